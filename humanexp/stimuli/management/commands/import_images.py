from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from humanexp.core.errors import ApplicationError
from humanexp.stimuli import services


class Command(BaseCommand):
    help = "Import labelled pictures: folders named by category or WordNet id, or a CSV file with path,category."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", metavar="DIR", type=Path, help="folder of folders, or CSV file")
        parser.add_argument("--name", required=True, help="name of the new set of pictures")
        parser.add_argument("--provenance", default="", help="where the pictures come from (default: the folder)")
        parser.add_argument("--licence", default="", help="licence of the pictures")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = services.import_images(
                source=options["source"],
                name=options["name"],
                provenance=options["provenance"],
                licence=options["licence"],
            )
        except ApplicationError as error:
            raise CommandError(error.message) from error
        categories = ", ".join(f"{category} {count}" for category, count in report.per_category.items())
        self.stdout.write(f"{report.source_set.name}: {report.n_images} pictures imported ({categories})")
        for left_out, kept in report.duplicates:
            self.stdout.write(f"duplicate left out: {left_out} has the content of {kept}")
        for sentence in report.ignored:
            self.stdout.write(f"ignored: {sentence}")
