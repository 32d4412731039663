"""One writer at a time where the database has only one."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

from django.db import connection, transaction

_turn = Lock()


@contextmanager
def write_turn() -> Iterator[None]:
    """A transaction. Writers of SQLite queue here in order, threads and processes alike.

    SQLite itself lets who comes second sleep and try again: with many writers some sleep for seconds.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    with _turn, _turn_of_processes(str(connection.settings_dict["NAME"])), transaction.atomic():
        yield


@contextmanager
def _turn_of_processes(database: str) -> Iterator[None]:
    """The kernel wakes who waits longest, and frees the lock of a process that dies."""
    if "mode=memory" in database or database == ":memory:":
        yield
        return
    file = _turn_file(f"{database}-turn")
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


@cache
def _turn_file(path: str) -> int:
    """The descriptor of a file that stays open as long as the process lives: its lock goes with it.

    A file object would complain at the end that nobody closed it.
    """
    return os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
