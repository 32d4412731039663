from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from analysis.errors import AnalysisError
from humanexp.core.commands import OwnedCommand
from humanexp.core.errors import ApplicationError
from humanexp.results import services


class Command(OwnedCommand):
    help = (
        "Import published trial files (subj, session, trial, rt, object_response, category, condition, imagename) as a "
        "study of its own. Either all files are imported, or nothing is."
    )
    owned = "study it is"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="CSV (UTF-8) or Parquet files")
        parser.add_argument("--study", required=True, metavar="NAME", help="name of the study that is made")
        parser.add_argument(
            "--humans",
            default="",
            metavar="PATTERN",
            help="observers who are people, besides those called subject...: a pattern such as 'observer-*'",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            imported = services.import_trials(
                paths=options["files"], name=options["study"], humans=options["humans"], by=options["owner"]
            )
        except (AnalysisError, ApplicationError) as error:
            raise CommandError(f"{error} Nothing was imported.") from error
        trial_import = imported.trial_import
        slug = trial_import.study.slug
        if not imported.is_new:
            self.stdout.write(
                f"These files are already the study {slug}: {trial_import.trials} trials. Nothing was changed."
            )
            return
        kinds = list(trial_import.observers.values())
        self.stdout.write(
            f"Imported {trial_import.trials} trials of {kinds.count('human')} people and "
            f"{kinds.count('classifier')} classifiers as the study {slug}.\n"
            f"Next: python manage.py analyse {slug}"
        )
