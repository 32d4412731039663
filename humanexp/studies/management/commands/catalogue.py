from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from humanexp.core.commands import RefusableCommand
from humanexp.core.errors import existing
from humanexp.core.languages import catalogue_template, read_catalogue, texts_of
from humanexp.studies.facts import tasks_of
from humanexp.studies.models import Study


class Command(RefusableCommand):
    help = "Print a catalogue to translate participants' pages with, or check one. Nothing is stored."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE.toml", nargs="?", help="one to check; without it, an empty one")
        parser.add_argument("--study", metavar="STUDY", help="only the texts of pages that this study shows")

    def handle(self, *args: Any, **options: Any) -> None:
        tasks: tuple[str, ...] = ()
        if slug := options["study"]:
            study = existing(Study.objects.filter(slug=slug).first(), f"There is no study {slug!r}.")
            tasks = tasks_of(study.configuration)
        if options["file"] is None:
            self.stdout.write(catalogue_template(tasks), ending="")
            return
        path, wanted = Path(options["file"]), texts_of(tasks)
        found = read_catalogue(path)
        there = len(wanted.keys() & found.texts.keys())
        said = f"{path.name}: {found.name}, {there} of {len(wanted)} texts, digest {found.digest[:12]}"
        self.stdout.write(self.style.SUCCESS(said))
