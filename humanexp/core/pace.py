"""How fast long work gets on."""

from __future__ import annotations

import math

#: Steps that lie this far back count a third in the rate.
MEMORY_S = 15.0


class RecentRate:
    """Steps a second, the latest ones weighing most: a job that goes on finds its first steps done in no time."""

    def __init__(self) -> None:
        self._rate: float | None = None
        self._before: tuple[float, int] | None = None
        self._latest_steps = 0

    def after(self, done: int, at_s: float) -> float | None:
        """Rate once `done` steps are done at a time in seconds; None before the first step was seen to be made.

        Where many steps end at once, the rate holds until the next as many are overdue.
        """
        since_s, before = self._before or (at_s, done)
        elapsed_s, steps = at_s - since_s, done - before
        if steps > 0 and elapsed_s > 0:
            latest = steps / elapsed_s
            weight = 1.0 if self._rate is None else 1 - math.exp(-elapsed_s / MEMORY_S)
            self._rate = (self._rate or 0.0) + weight * (latest - (self._rate or 0.0))
            self._before, self._latest_steps = (at_s, done), steps
        elif self._rate is None or steps < 0:
            self._before = (at_s, done)
        elif elapsed_s > 0:
            return min(self._rate, self._latest_steps / elapsed_s)
        return self._rate


def rate_text(rate: float) -> str:
    """Steps a second in words, a minute where they are slow."""
    if rate >= 10:
        return f"{rate:.0f}/s"
    return f"{rate:.1f}/s" if rate >= 0.5 else f"{60 * rate:.1f}/min"
