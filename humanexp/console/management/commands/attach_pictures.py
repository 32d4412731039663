from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from humanexp.core.commands import RefusableCommand
from humanexp.results.services import attach_pictures
from humanexp.studies.selectors import study_by_slug


class Command(RefusableCommand):
    help = (
        "Attach the pictures that imported trials showed, so that other models can be asked about them. Every trial's "
        "picture is found, or nothing is written."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY")
        parser.add_argument("pictures", type=Path, metavar="PATH", help="folder or zip archive")
        parser.add_argument(
            "--originals", type=Path, metavar="PATH", help="of the unchanged pictures: visual change is measured"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_by_slug(options["study"])
        made = attach_pictures(study=study, pictures=options["pictures"], originals=options["originals"])
        self.stdout.write(
            f"Attached {made.stimuli.count()} pictures to {study.slug}.\n"
            f"Next: python manage.py evaluate --study {study.slug} --classifier SPEC"
        )
