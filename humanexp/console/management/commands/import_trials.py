from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from analysis.errors import AnalysisError
from analysis.trial_meaning import PER_SECOND
from humanexp.core.commands import OwnedCommand
from humanexp.core.errors import ApplicationError
from humanexp.results.services import import_trials


class Command(OwnedCommand):
    help = (
        "Import published trial files (subj, session, trial, rt, object_response, category, condition, imagename) as a "
        "study of its own. Either all files are imported, or nothing is."
    )
    owned = "study it is"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "files",
            nargs="+",
            type=Path,
            metavar="FILE",
            help="CSV or Parquet files; or the folder of an export, whose labels and settings come along",
        )
        parser.add_argument("--study", required=True, metavar="NAME", help="name of the study that is made")
        parser.add_argument(
            "--humans",
            default="",
            metavar="PATTERN",
            help="observers who are people, besides those called subject... or with reaction times: a pattern such as "
            "'observer-*'",
        )
        parser.add_argument(
            "--classifiers", default="", metavar="PATTERN", help="observers who are none, whatever else they have"
        )
        parser.add_argument(
            "--times-in", choices=PER_SECOND, default="s", help="unit of the column rt: s (usual) or ms"
        )
        parser.add_argument(
            "--answers",
            nargs="+",
            type=Path,
            default=[],
            metavar="FILE",
            help="CSV files (image,response) of texts that models answered about the same pictures",
        )
        parser.add_argument(
            "--letters", action="store_true", help="a letter in these texts names a category: A, B, ..."
        )
        parser.add_argument(
            "--label-space", default="", metavar="NAME", help="labels of the trials; by default the 16 categories"
        )
        parser.add_argument("--none-offered", action="store_true", help="'none' (none of these) could be answered")
        parser.add_argument(
            "--pictures", type=Path, metavar="PATH", help="folder or zip archive of the pictures that the trials showed"
        )
        parser.add_argument(
            "--originals", type=Path, metavar="PATH", help="of the unchanged pictures: visual change is measured"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            imported = import_trials(
                paths=options["files"],
                name=options["study"],
                humans=options["humans"],
                classifiers=options["classifiers"],
                times_in=options["times_in"],
                pictures=options["pictures"],
                originals=options["originals"],
                answers=options["answers"],
                letters=options["letters"],
                labels=options["label_space"],
                none_offered=options["none_offered"],
                by=options["owner"],
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
        notes = "".join(f"{note}\n" for note in imported.notes)
        kinds = list(trial_import.observers.values())
        self.stdout.write(
            f"Imported {trial_import.trials} trials of {kinds.count('human')} people and "
            f"{kinds.count('classifier')} classifiers as the study {slug}"
            f"{', with their pictures' if trial_import.pictures_file else ''}.\n"
            f"{_told(trial_import.kinds)}{notes}Next: python manage.py analyse {slug}"
        )


def _told(kinds: dict[str, dict[str, int]]) -> str:
    """What models that answered in words said instead of a category."""
    without = {name: {kind: n for kind, n in own.items() if kind != "label"} for name, own in kinds.items()}
    parts = [f"{name} {', '.join(f'{n} {kind}' for kind, n in own.items())}" for name, own in without.items() if own]
    return f"Answers that name no category count as wrong: {'; '.join(parts)}.\n" if parts else ""
