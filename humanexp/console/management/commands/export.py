from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.errors import AnalysisError
from humanexp.core.errors import ApplicationError
from humanexp.experiments.selectors import study_by_slug
from humanexp.results.exports import export_study


class Command(BaseCommand):
    help = "Write a study's tables (CSV and Parquet), findings and the meaning of every column, without worker ids."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY")
        parser.add_argument("--to", required=True, type=Path, metavar="DIR", help="a new or an empty folder")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            written = export_study(study_by_slug(options["study"]), options["to"])
        except (AnalysisError, ApplicationError, OSError) as error:
            raise CommandError(str(error)) from error
        for path in written:
            self.stdout.write(f"{path.stat().st_size:>12,}  {path}")
