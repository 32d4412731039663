"""The one place where the web side asks for the time."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from django.utils import timezone


class Clock(Protocol):
    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        return timezone.now()


system_clock: Clock = SystemClock()


def now() -> datetime:
    return system_clock.now()
