"""The one place where the web side asks for the time, and moments as numbers for sums in the database."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any, Protocol

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import FloatField, Func
from django.db.models.sql.compiler import SQLCompiler
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


class Epoch(Func):
    """Seconds since 1970, to the millisecond."""

    template = "EXTRACT(EPOCH FROM %(expressions)s)::double precision"
    output_field = FloatField()

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        template = "((julianday(%(expressions)s) - 2440587.5) * 86400.0)"
        return self.as_sql(compiler, connection, template=template, **context)
