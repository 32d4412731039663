"""What management commands have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.errors import AnalysisError
from humanexp.core.errors import ApplicationError, InputRefused
from humanexp.core.selectors import account_called


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
