"""Questions about jobs: which there are, who may see them, how fast one goes and how long it still needs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, Q, QuerySet

from humanexp.core import clock
from humanexp.core.models import User
from humanexp.core.pace import rate_text
from humanexp.jobs.models import FINISHED, PERIODIC, Job, JobState, Runner
from humanexp.jobs.registry import kinds_in_lane, registered


def recent(limit: int) -> QuerySet[Job]:
    """Newest first, without the pulse of repeating jobs and without short ones that went well."""
    short = Q(state=JobState.DONE, kind__in=kinds_in_lane(is_prompt=True))
    return Job.objects.exclude(subject=PERIODIC).exclude(short)[:limit]


def unfinished() -> QuerySet[Job]:
    return Job.objects.exclude(state__in=FINISHED)


def latest_for(subject: str, kind: str | None = None) -> Job | None:
    """The newest job about a subject, e.g. latest_for("stimulus_set:7")."""
    jobs = Job.objects.filter(subject=subject)
    if kind:
        jobs = jobs.filter(kind__in=registered(kind).names)
    return jobs.order_by("-pk").first()


def newest_by_subject(subjects: Collection[str]) -> dict[str, Job]:
    """The newest job about each subject, in one query."""
    return {job.subject: job for job in Job.objects.filter(subject__in=subjects).order_by("pk")}


def failed_for_good(*, since: datetime) -> list[Job]:
    """Jobs that failed and that no later one of the same kind about the same subject has made good."""
    later = Job.objects.filter(subject=OuterRef("subject"), kind=OuterRef("kind"), pk__gt=OuterRef("pk"))
    failed = Job.objects.filter(state=JobState.FAILED, finished_at__gte=since)
    return list(failed.filter(~Exists(later.exclude(state=JobState.CANCELLED))).order_by("pk"))


def by_pk(pk: int) -> Job | None:
    return Job.objects.filter(pk=pk).first()


def leases() -> dict[int, tuple[str, datetime | None]]:
    """Who holds each running job, and until when."""
    running = Job.objects.filter(state=JobState.RUNNING).values_list("pk", "runner", "lease_until")
    return {pk: (runner, until) for pk, runner, until in running}


#: A lane that has not been heard of for this long stands still.
SILENT_AFTER = timedelta(seconds=60)


@dataclass(frozen=True)
class Silence:
    """No runner takes jobs: all of them, or those of one lane."""

    #: when one was last heard of; None where none ever was
    since: datetime | None
    #: nobody is paid and no recruiter is asked; otherwise long work alone stands still
    nobody_is_paid: bool


def silence() -> Silence | None:
    """What stands still because no job runner has been heard of for a minute; None while all goes on."""
    now = clock.now()
    runners = list(Runner.objects.all())
    for nobody_is_paid, heard in (
        (True, [runner.prompt_at for runner in runners if runner.prompt_at]),
        (False, [runner.long_at for runner in runners if runner.long_at]),
    ):
        # A beat from the future was written before the clock was set back: one that lives writes another in seconds.
        if not any(abs(now - at) < SILENT_AFTER for at in heard):
            return Silence(since=max(heard, default=None), nobody_is_paid=nobody_is_paid)
    return None


class Rule(Protocol):
    """Who may see which jobs, as an app knows it that knows what they are about."""

    def __call__(self, user: User | AnonymousUser, jobs: Sequence[Job]) -> Collection[int]:
        """Primary keys of the jobs that this user may see."""


_RULES: list[Rule] = []


def register_rule(rule: Rule) -> None:
    _RULES.append(rule)


def shown_to(user: User | AnonymousUser, jobs: Sequence[Job]) -> list[Job]:
    """The jobs that no rule keeps from this user, in their order."""
    shown = list(jobs)
    for rule in _RULES:
        seen = set(rule(user, shown))
        shown = [job for job in shown if job.pk in seen]
    return shown


@dataclass(frozen=True)
class Pace:
    elapsed_s: float
    #: steps a second; None before the first step
    rate: float | None
    remaining_s: float | None

    @property
    def rate_text(self) -> str:
        return "" if self.rate is None else rate_text(self.rate)


def pace_of(job: Job, *, now: datetime) -> Pace | None:
    """Pace lately, or, before that is known, since this attempt started; None for a job that is not running."""
    if job.state != JobState.RUNNING or job.started_at is None or job.is_interrupted:
        return None
    elapsed_s = max(0.0, (now - job.started_at).total_seconds())
    if job.done == 0 or elapsed_s == 0:
        return Pace(elapsed_s, None, None)
    rate = job.rate or job.done / elapsed_s
    return Pace(elapsed_s, rate, max(0, job.total - job.done) / rate if job.total else None)


def partial_context(job: Job | None) -> dict[str, object]:
    """What the template jobs/_job.html needs."""
    if job is None:
        return {"job": None}
    lines = job.error.strip().splitlines()
    return {"job": job, "pace": pace_of(job, now=clock.now()), "error_line": lines[-1] if lines else ""}
