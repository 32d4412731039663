"""How fast a running job goes, and how long it still needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from humanexp.core import clock
from humanexp.jobs.models import Job, JobState

#: Steps that lie this far back count a third in the rate.
MEMORY_S = 15.0


class RecentRate:
    """Steps a second, the latest ones weighing most: a job that goes on finds its first steps done in no time."""

    def __init__(self) -> None:
        self._rate: float | None = None
        self._before: tuple[float, int] | None = None

    def after(self, done: int, at_s: float) -> float | None:
        """Rate once `done` steps are done at a time in seconds; None before the first step was seen to be made."""
        if self._before is not None and at_s > self._before[0]:
            elapsed_s = at_s - self._before[0]
            latest = max(0, done - self._before[1]) / elapsed_s
            if self._rate is None:
                self._rate = latest or None
            else:
                self._rate += (1 - math.exp(-elapsed_s / MEMORY_S)) * (latest - self._rate)
        self._before = (at_s, done)
        return self._rate


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
