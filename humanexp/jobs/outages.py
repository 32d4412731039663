"""Faults of the place and not of the work: a database that is locked, restarted or absent, a disk that is full, a
storage of files that does not answer."""

from __future__ import annotations

import errno
import random

from django.db import InterfaceError, OperationalError

from analysis.errors import StorageFailed
from humanexp.core.errors import FilesAway

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
#: SQLite's primary codes: busy, locked, out of memory, read-only, I/O error, full, cannot open, protocol.
_SQLITE = frozenset({5, 6, 7, 8, 10, 13, 14, 15})
#: PostgreSQL's classes: connection, transaction rolled back, resources (disk full, too many connections), lock not
#: available, operator's intervention (shutdown, starting up), system error.
_POSTGRESQL = ("08", "40", "53", "55", "57", "58")


def is_outage(error: BaseException) -> bool:
    """Whether it will go once database, disk and storage are there again, without a change to the work."""
    if isinstance(error, InterfaceError | StorageFailed | FilesAway):
        return True
    if isinstance(error, OperationalError):
        return _is_of_the_database(error.__cause__)
    return isinstance(error, OSError) and error.errno in _FULL


def _is_of_the_database(error: BaseException | None) -> bool:
    """A missing table is an OperationalError of SQLite, too, and stays missing."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in _SQLITE
    state = getattr(error, "sqlstate", None)
    return state is None or state.startswith(_POSTGRESQL)


class Backoff:
    """Pauses that double from one second to half a minute, each a little different: two runners do not keep step."""

    FIRST_S, MOST_S = 1.0, 30.0

    def __init__(self) -> None:
        self._pause_s = self.FIRST_S

    def pause_s(self) -> float:
        pause_s = self._pause_s * random.uniform(0.8, 1.0)  # noqa: S311
        self._pause_s = min(self.MOST_S, 2 * self._pause_s)
        return pause_s

    def reset(self) -> None:
        self._pause_s = self.FIRST_S
