from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta

from django.db import IntegrityError, models, transaction
from django.db.models import F, Q

from humanexp.core import clock, request_ids
from humanexp.core.errors import Conflict
from humanexp.core.models import User
from humanexp.jobs.models import FINISHED, PERIODIC, Job, JobState
from humanexp.jobs.registry import handlers, registered
from humanexp.jobs.selectors import latest_for

#: A runner that has not been heard of for this long is dead, and its job goes back into the queue.
LEASE = timedelta(seconds=30)
#: Jobs that are tried again wait less than this.
LONGEST_WAIT = timedelta(minutes=1)


def submit(
    kind: str, *, subject: str = "", run_after: datetime | None = None, by: User | None = None, **parameters: object
) -> Job:
    """Put a job into the queue; committed together with whatever the caller's transaction writes.

    Raises InvalidInput where the handler could not be called with the parameters.
    """
    registered(kind).checked(parameters)
    return Job.objects.create(
        kind=kind,
        subject=subject,
        parameters=parameters,
        run_after=run_after,
        request_id=request_ids.current(),
        created_by=by,
    )


def start(kind: str, *, subject: str, by: User | None = None, **parameters: object) -> Job:
    """Let a subject have its job of a kind: one under way is left alone, one that failed or was cancelled goes on.

    With other parameters, one that has ended is left as it is, and one under way is in the way.
    """
    job = latest_for(subject, kind)
    is_other = job is not None and job.parameters != parameters
    if job is not None and is_other and not job.is_finished:
        raise Conflict(
            f"A job with other settings is under way for the same ({registered(kind).title}): wait, or cancel it."
        )
    if job is None or job.state == JobState.DONE or is_other:
        return submit(kind, subject=subject, run_after=None, by=by, **parameters)
    return resume(job=job) if job.is_finished else job


def claim(*, runner: str, kinds: list[str] | None = None) -> Job | None:
    """Take the oldest waiting job. The conditional update decides: two runners never own one job."""
    now = clock.now()
    waiting = Job.objects.filter(state=JobState.QUEUED).filter(Q(run_after=None) | Q(run_after__lte=now))
    if kinds is not None:
        waiting = waiting.filter(kind__in=kinds)
    for pk in waiting.order_by("pk").values_list("pk", flat=True)[:20]:
        taken = Job.objects.filter(pk=pk, state=JobState.QUEUED).update(
            state=JobState.RUNNING,
            runner=runner,
            lease_until=now + LEASE,
            started_at=now,
            attempt=F("attempt") + 1,
            rate=None,
            error="",
        )
        if taken:
            return Job.objects.get(pk=pk)
    return None


def renew(*, job: Job, runner: str) -> bool:
    """Keep the lease; False when the job is no longer this runner's."""
    return bool(_owned(job, runner).update(lease_until=clock.now() + LEASE))


def report(*, job: Job, runner: str, done: int, total: int, message: str = "", rate: float | None = None) -> bool:
    """Store progress; False when the job should stop (cancelled, or no longer this runner's)."""
    updated = _owned(job, runner).filter(cancel_requested=False)
    now = clock.now()
    return bool(updated.update(done=done, total=total, message=message[:300], rate=rate, lease_until=now + LEASE))


def finish(*, job: Job, runner: str, result: Mapping[str, object]) -> None:
    _owned(job, runner).update(state=JobState.DONE, result=result, finished_at=clock.now(), lease_until=None)


def fail(*, job: Job, runner: str, error: str, retry: bool) -> None:
    """End an attempt that went wrong; with `retry` the job goes back into the queue while attempts are left."""
    again = retry and job.attempt < job.max_attempts
    _owned(job, runner).update(
        state=JobState.QUEUED if again else JobState.FAILED,
        error=error,
        run_after=clock.now() + timedelta(seconds=2**job.attempt) if again else None,
        finished_at=None if again else clock.now(),
        lease_until=None,
        runner="",
    )


def stopped(*, job: Job, runner: str) -> None:
    """The handler has heard the request to cancel and stopped."""
    _owned(job, runner).update(state=JobState.CANCELLED, finished_at=clock.now(), lease_until=None)


@transaction.atomic
def cancel(*, job: Job) -> Job:
    """Ask a job to stop. A waiting one is cancelled at once, a running one at its next progress report."""
    Job.objects.filter(pk=job.pk, state=JobState.QUEUED).update(state=JobState.CANCELLED, finished_at=clock.now())
    Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(cancel_requested=True)
    job.refresh_from_db()
    return job


def resume(*, job: Job) -> Job:
    """Put a failed or cancelled job back into the queue; handlers continue from what is already stored."""
    ended = Job.objects.filter(pk=job.pk, state__in=[JobState.FAILED, JobState.CANCELLED])
    try:
        with transaction.atomic():
            ended.update(
                state=JobState.QUEUED,
                cancel_requested=False,
                attempt=0,
                error="",
                run_after=None,
                finished_at=None,
                runner="",
            )
    except IntegrityError as error:
        raise Conflict("This job repeats by itself, and the next one waits already.") from error
    job.refresh_from_db()
    return job


def hand_back(*, job: Job, runner: str, why: str = "", wait_s: float = 0) -> None:
    """Put a running job back into the queue as it was: what kept it was no fault of its own and costs no attempt."""
    _owned(job, runner).update(
        state=JobState.QUEUED,
        attempt=F("attempt") - 1,
        error=why,
        run_after=clock.now() + timedelta(seconds=wait_s) if wait_s else None,
        lease_until=None,
        runner="",
    )


def take_back(*, pk: int, runner: str, lease_until: datetime | None) -> bool:
    """Give the job of a dead runner back to the queue, or end it when its attempts are used up.

    False when its lease was renewed meanwhile.
    """
    lost = Job.objects.filter(pk=pk, state=JobState.RUNNING, runner=runner, lease_until=lease_until)
    ended = lost.filter(attempt__gte=F("max_attempts")).update(
        state=JobState.FAILED, error="The process that ran this job died.", finished_at=clock.now(), lease_until=None
    )
    return bool(ended or lost.update(state=JobState.QUEUED, lease_until=None, runner=""))


def schedule_periodic() -> None:
    """Keep one waiting job for every kind that repeats, and let none wait because the clock was set back."""
    now = clock.now()
    Job.objects.filter(state=JobState.QUEUED, run_after__gt=now + LONGEST_WAIT).exclude(subject=PERIODIC).update(
        run_after=now
    )
    for registration in handlers().values():
        if registration.every_s is None:
            continue
        interval = timedelta(seconds=registration.every_s)
        same = Job.objects.filter(kind__in=registration.names)
        same.filter(state=JobState.QUEUED, subject=PERIODIC, run_after__gt=now + interval).update(run_after=now)
        if same.exclude(state__in=FINISHED).exists():
            continue
        last = same.aggregate(latest=models.Max("finished_at"))["latest"]
        with suppress(IntegrityError), transaction.atomic():  # another runner was there first
            submit(registration.kind, subject=PERIODIC, run_after=min(last, now) + interval if last else None)
        # The history of a repeating job is short: it is a pulse, not a record.
        keep = same.filter(state__in=FINISHED).order_by("-pk").values_list("pk", flat=True)[:20]
        same.filter(state__in=FINISHED).exclude(pk__in=list(keep)).delete()


def _owned(job: Job, runner: str) -> models.QuerySet[Job]:
    return Job.objects.filter(pk=job.pk, state=JobState.RUNNING, runner=runner)
