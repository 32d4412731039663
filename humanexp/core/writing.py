"""One writer at a time where the database has only one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from django.db import connection, transaction

_turn = Lock()


@contextmanager
def write_turn() -> Iterator[None]:
    """A transaction. Threads of this process queue for SQLite here, in order: SQLite itself lets them sleep."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    with _turn, transaction.atomic():
        yield
