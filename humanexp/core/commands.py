"""What management commands have in common; how far one is, once it takes longer than anybody waits in silence."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self, TextIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.errors import AnalysisError
from humanexp.core.errors import ApplicationError, InputRefused
from humanexp.core.pace import RecentRate, rate_text
from humanexp.core.selectors import account_called

SILENT_S = 2.0
#: Between two looks at how fast the work gets on.
_SAMPLED_S = 1.0
_MANY_S = 120


class ProgressLine:
    """Writes `done of total` with rate and time left: one changing line on a terminal, else a line now and then."""

    def __init__(self, stream: TextIO, *, silent_s: float = SILENT_S, log_every_s: float = 30.0) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._every_s = 0.2 if self._is_terminal else log_every_s
        self._due = time.monotonic() + silent_s
        self._width = 0
        self._recent = RecentRate()
        self._rate: float | None = None
        self._sampled = -math.inf

    def __call__(self, done: int, total: int, message: str = "") -> None:
        now = time.monotonic()
        if done >= total or now >= self._sampled + _SAMPLED_S:
            self._rate, self._sampled = self._recent.after(done, now), now
        if now < self._due and (done < total or not self._width):
            return
        self._due = now + self._every_s
        text = f"{done} of {total} {message}" if total else message
        if self._rate:
            text += f", {rate_text(self._rate)}"
            text += f", {_duration((total - done) / self._rate)} left" if done < total else ""
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


def _duration(seconds: float) -> str:
    """Seconds, or minutes where there are many."""
    return f"{seconds:.0f} s" if seconds < _MANY_S else f"{seconds / 60:.0f} min"


class RefusableCommand(BaseCommand):
    """A refusal becomes a sentence and a non-zero exit status."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        with _refusals_told():
            return super().execute(*args, **options)


class OwnedCommand(RefusableCommand):
    """Makes what belongs to somebody in the console: the account that `--owner` names, or nobody.

    `handle` finds the account itself under "owner". An account that is not there, or closed, is refused before anything
    is done, also where the same command only goes on.
    """

    #: what --help calls it, with its verb
    owned: ClassVar[str]

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument(
            "--owner", metavar="USERNAME", help=f"whose {self.owned} in the console (default: nobody's)"
        )
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        with _refusals_told():
            if options["owner"] is not None:
                options["owner"] = account_called(options["owner"])
        return super().execute(*args, **options)


@contextmanager
def _refusals_told() -> Iterator[None]:
    try:
        yield
    except (ApplicationError, AnalysisError) as error:
        raise CommandError(str(error)) from error


def check_folder(target: Path | None) -> None:
    """Refuse a file for --json in a folder that is not there, before the work whose numbers it is to hold."""
    if target is not None and not target.resolve().parent.is_dir():
        raise InputRefused(f"{target.parent} is no folder: make it first, or name another file with --json.")
