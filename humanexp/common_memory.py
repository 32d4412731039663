"""Memory that the web processes of one server share. It is made before they are forked, because `humanexp.serving`
imports this; it lies on no disk, and is gone with them. A process that stands alone has it for itself."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import mmap
from tempfile import mkstemp
from threading import Lock

#: The day of the salt that callers are hashed with, and the salt.
DAY, SALT = slice(0, 8), slice(8, 40)
#: Who opened which session: pairs of eight-byte numbers.
ROWS_AT, ROWS = 4_096, 65_536
#: Rates of calls: hashes of callers, and then as many times.
RATES_AT, RATES = ROWS_AT + 16 * ROWS, 16_384
MEMORY = mmap(-1, RATES_AT + 16 * RATES)

#: A file without a name or content, which is there to be locked. A process that dies holding it lets go.
_TURN, _name = mkstemp()
os.unlink(_name)
_threads = Lock()


@contextmanager
def in_turn() -> Iterator[None]:
    """One thread of one process at a time: what is read is still true when it is written."""
    with _threads:
        fcntl.lockf(_TURN, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(_TURN, fcntl.LOCK_UN)
