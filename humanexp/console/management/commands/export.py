from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from humanexp.core.commands import RefusableCommand
from humanexp.core.models import record
from humanexp.ledger.figures import payment_summary
from humanexp.results.exports import export_study
from humanexp.studies.selectors import study_by_slug


class Command(RefusableCommand):
    help = (
        "Write a study's tables (CSV and Parquet), trial files, findings, settings and the meaning of every column, "
        "without worker ids: everything that python -m analysis.findings needs to compute every number again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY")
        parser.add_argument("--to", required=True, type=Path, metavar="DIR", help="a new or an empty folder")

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_by_slug(options["study"])
        payments = dict(payment_summary(study))
        try:
            written = export_study(study, options["to"], beside={"payments": payments})
        except OSError as error:
            raise CommandError(str(error)) from error
        record(action="export", subject="folder", study=study.slug, files=len(written))
        for path in written:
            self.stdout.write(f"{path.stat().st_size:>12,}  {path}")
