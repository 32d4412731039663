from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from analysis.errors import InvalidInput
from analysis.labels.files import read_labels_file
from humanexp.core.commands import OwnedCommand
from humanexp.stimuli.label_files import labels_of_file
from humanexp.stimuli.services.label_sets import store_labels


class Command(OwnedCommand):
    help = (
        "Store labels of your own from a TOML file with its icons next to it, or from a zip archive of both. Pictures "
        "are imported under them with import_images --label-space."
    )
    owned = "labels they are"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="TOML file or zip archive")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="replace the labels of this name; once pictures have them, only what people see of them",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        if not path.is_file():
            raise InvalidInput(f"There is no file {path}.")
        if path.suffix.lower() == ".zip":
            with path.open("rb") as file:
                space = labels_of_file(path.name, file)
        else:
            space = read_labels_file(path)
        stored = store_labels(space, by=options["owner"], mends=options["replace"])
        self.stdout.write(f"{stored.name}: {len(space)} labels stored, identity {space.identity[:12]}")
        self.stdout.write(f"Next: python manage.py import_images FOLDER --name NAME --label-space {stored.name}")
