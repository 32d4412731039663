"""How fast a running job goes, and how long it still needs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from humanexp.jobs.models import Job, JobState


@dataclass(frozen=True)
class Pace:
    elapsed_s: float
    #: steps a second; None before the first step
    rate: float | None
    remaining_s: float | None

    @property
    def rate_text(self) -> str:
        if self.rate is None:
            return ""
        if self.rate >= 10:
            return f"{self.rate:.0f}/s"
        return f"{self.rate:.1f}/s" if self.rate >= 0.5 else f"{60 * self.rate:.1f}/min"


def pace_of(job: Job, *, now: datetime) -> Pace | None:
    """Mean pace since this attempt started; None for a job that is not running."""
    if job.state != JobState.RUNNING or job.started_at is None:
        return None
    elapsed_s = max(0.0, (now - job.started_at).total_seconds())
    if job.done == 0 or elapsed_s == 0:
        return Pace(elapsed_s, None, None)
    rate = job.done / elapsed_s
    return Pace(elapsed_s, rate, max(0, job.total - job.done) / rate if job.total else None)


def partial_context(job: Job | None, *, now: datetime) -> dict[str, object]:
    """What templates/jobs/_job.html needs."""
    if job is None:
        return {"job": None}
    lines = job.error.strip().splitlines()
    return {"job": job, "pace": pace_of(job, now=now), "error_line": lines[-1] if lines else ""}
