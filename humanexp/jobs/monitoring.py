"""What monitors are told of jobs and of those who run them."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, Max, Min, Q

from humanexp.core import clock
from humanexp.core.metrics import Figure
from humanexp.jobs.models import PERIODIC, Job, JobState, Runner
from humanexp.jobs.selectors import silence


def runner_fault() -> str:
    """Of `/readyz`, after the words "the job runner": without one, no one is paid and nothing is computed."""
    found = silence()
    if found is None:
        return ""
    return "is silent: no one is paid" if found.nobody_is_paid else "takes no long jobs"


def figures() -> Iterator[Figure]:
    now = clock.now()
    waiting = Q(state=JobState.QUEUED) & (Q(run_after=None) | Q(run_after__lte=now))
    asked = Job.objects.exclude(subject=PERIODIC).filter(state__in=[JobState.QUEUED, JobState.RUNNING])
    counts = asked.aggregate(
        queued=Count("pk", filter=waiting),
        running=Count("pk", filter=Q(state=JobState.RUNNING)),
        since=Min("created_at", filter=waiting),
    )
    for state in ("queued", "running"):
        labels = {"state": state}
        yield Figure(name="humanexp_jobs", about="Jobs by state.", value=counts[state], labels=labels)
    waits_s = (now - counts["since"]).total_seconds() if counts["since"] else 0.0
    yield Figure(name="humanexp_job_oldest_wait_seconds", about="How long the oldest queued job waits.", value=waits_s)
    for lane, field in (("prompt", "prompt_at"), ("long", "long_at")):
        heard = Runner.objects.aggregate(last=Max(field))["last"]
        if heard is not None:
            yield Figure(
                name="humanexp_runner_silence_seconds",
                about="Since when no runner has taken up work of this lane; absent where none ever has.",
                value=(now - heard).total_seconds(),
                labels={"lane": lane},
            )
