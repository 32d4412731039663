"""How far a command is, told on a terminal once it takes longer than anybody waits in silence."""

from __future__ import annotations

import time
from typing import Self, TextIO

SILENT_S = 2.0


class ProgressLine:
    """Writes `done of total` with rate and time left: one changing line on a terminal, else a line now and then."""

    def __init__(self, stream: TextIO, *, silent_s: float = SILENT_S, log_every_s: float = 30.0) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._every_s = 0.2 if self._is_terminal else log_every_s
        self._started = time.monotonic()
        self._due = self._started + silent_s
        self._width = 0

    def __call__(self, done: int, total: int, message: str = "") -> None:
        now = time.monotonic()
        if now < self._due and (done < total or not self._width):
            return
        self._due = now + self._every_s
        rate = done / max(1e-9, now - self._started)
        left = f", {(total - done) / rate:.0f} s left" if rate > 0 and done < total else ""
        text = f"{done} of {total} {message}, {rate:.0f}/s{left}"
        if self._is_terminal:
            self._stream.write("\r" + text.ljust(self._width))
        else:
            self._stream.write(text + "\n")
        self._width = max(self._width, len(text))
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the changing line."""
        if self._width and self._is_terminal:
            self._stream.write("\n")
            self._stream.flush()
