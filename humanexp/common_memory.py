"""Memory that the web processes of one server share. It is made before they are forked, because `humanexp.serving`
imports this; it lies on no disk, and is gone with them. A process that stands alone has it for itself."""

from __future__ import annotations

from mmap import mmap

#: The day of the salt that callers are hashed with, and the salt.
DAY, SALT = slice(0, 8), slice(8, 40)
#: Who opened which session: pairs of eight-byte numbers, from here to the end.
ROWS_AT, ROWS = 4_096, 65_536
MEMORY = mmap(-1, ROWS_AT + 16 * ROWS)
