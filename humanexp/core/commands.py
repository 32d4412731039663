"""What management commands have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.errors import AnalysisError
from humanexp.core.errors import ApplicationError, InputRefused


class RefusableCommand(BaseCommand):
    """A refusal becomes a sentence and a non-zero exit status."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except (ApplicationError, AnalysisError) as error:
            raise CommandError(str(error)) from error


def check_folder(target: Path | None) -> None:
    """Refuse a file for --json in a folder that is not there, before the work whose numbers it is to hold."""
    if target is not None and not target.resolve().parent.is_dir():
        raise InputRefused(f"{target.parent} is no folder: make it first, or name another file with --json.")
