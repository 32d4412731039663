"""The platform's clock in a test's hands."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from django.utils import timezone


class HandClock:
    """Stands still until it is moved. Less than none: somebody sets the clock back, and no time passes."""

    def __init__(self, at: datetime) -> None:
        self.time, self.passed_s = at, 0.0

    def now(self) -> datetime:
        return self.time

    def monotonic_s(self) -> float:
        return self.passed_s

    def go(self, **span: float) -> None:
        step = timedelta(**span)
        self.time += step
        self.passed_s += max(0.0, step.total_seconds())


class LaterClock:
    """Goes on by itself, ahead of the machine's."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return timezone.now() + self.ahead

    def monotonic_s(self) -> float:
        return time.monotonic() + self.ahead.total_seconds()

    def go(self, **span: float) -> None:
        self.ahead += timedelta(**span)
