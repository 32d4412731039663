from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, get_args

from django.core.management.base import CommandError

from analysis.sets.set_file import Use
from humanexp.core.commands import RefusableCommand
from humanexp.results.set_publication import Terms, publish_set
from humanexp.studies.selectors import study_by_slug


class Command(RefusableCommand):
    help = (
        "Write a study as a published set, on which others score models with score --on DIR: set.toml, the pictures "
        "with their digests, and the answers that count, without anything that says who answered."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY")
        parser.add_argument("--to", required=True, type=Path, metavar="DIR", help="a new or an empty folder")
        parser.add_argument("--licence", default="", metavar="TEXT", help="of the set (default: that of the originals)")
        parser.add_argument("--use", choices=get_args(Use), help="what others may do with it (default: as originals)")
        parser.add_argument("--citation", default="", metavar="TEXT", help="how others cite the set")
        parser.add_argument("--set-version", default="1", metavar="VERSION", help="another one for every change")

    def handle(self, *args: Any, **options: Any) -> None:
        terms = Terms(
            licence=options["licence"],
            use=options["use"],
            citation=options["citation"],
            version=options["set_version"],
        )
        try:
            made = publish_set(study=study_by_slug(options["study"]), folder=options["to"], terms=terms)
        except OSError as error:
            raise CommandError(str(error)) from error
        for warning in made.warnings:
            self.stderr.write(warning)
        self.stdout.write(
            f"{options['to']}: version {made.file.version} of {made.file.name}, {made.pictures:,} pictures, "
            f"{made.answers:,} answers of {made.people:,} participants, licence: {made.file.licence}. "
            f"Others score models with: score MODEL --on {options['to']}"
        )
