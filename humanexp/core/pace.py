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


def rate_text(rate: float) -> str:
    """Steps a second in words, a minute where they are slow."""
    if rate >= 10:
        return f"{rate:.0f}/s"
    return f"{rate:.1f}/s" if rate >= 0.5 else f"{60 * rate:.1f}/min"
