"""Bringing the database of a bundled site up to date, when several of its processes begin at once."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management import call_command
from django.db import connection

#: Of an advisory lock; any number that nothing else in the database uses.
_LOCK = 7_205_114_839


def bring_up_to_date() -> None:
    """Apply the migrations that are missing; whoever comes second waits for the first, and finds nothing to do."""
    with _turn():
        call_command("migrate", interactive=False, verbosity=0)


@contextmanager
def _turn() -> Iterator[None]:
    if connection.vendor == "sqlite":
        with Path(f"{connection.settings_dict['NAME']}.turn").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])
