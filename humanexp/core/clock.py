"""The one place where the web side asks for the time."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Protocol

from django.utils import timezone


class Clock(Protocol):
    def now(self) -> datetime: ...

    def monotonic_s(self) -> float: ...


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        return timezone.now()

    def monotonic_s(self) -> float:
        return time.monotonic()


system_clock: Clock = SystemClock()


def now() -> datetime:
    return system_clock.now()


def monotonic_s() -> float:
    """Seconds that only grow, whoever sets the machine's clock; they mean something within one process alone."""
    return system_clock.monotonic_s()
