from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from humanexp.console.classifiers import published_folders, report_pdf, score
from humanexp.console.terminal_report import print_standings
from humanexp.core.commands import RefusableCommand, check_folder
from humanexp.evaluations.observers import is_asked
from humanexp.evaluations.services.evaluations import How
from humanexp.evaluations.specs import default_name
from humanexp.results.tables import pooled_standings


class Command(RefusableCommand):
    help = (
        "Set one model next to the people of published experiments: imports trials and pictures from a folder, lets "
        "the model answer, and prints the table of all observers."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", metavar="SPEC", help="e.g. export:model.pt2, timm:resnet50")
        parser.add_argument(
            "--data", type=Path, required=True, metavar="DIR", help="folders of trial files, with a folder `pictures`"
        )
        parser.add_argument(
            "--pictures",
            action="append",
            default=[],
            metavar="NAME=PATH",
            help="folder or archive of one experiment's pictures, if they are elsewhere; repeatable",
        )
        parser.add_argument("--name", default="", help="of the model in the table")
        parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
        parser.add_argument("--rule", choices=["mean", "sum", "max"], default="mean")
        parser.add_argument("--labels", type=Path, metavar="FILE", help="CSV of a network's own labels")
        parser.add_argument("--allow-download", action="store_true", help="fetch published weights")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write every number, unrounded")
        parser.add_argument("--pdf", type=Path, metavar="FILE", help="write the table as a document")

    def handle(self, *args: Any, **options: Any) -> None:
        for target in (options["json"], options["pdf"]):
            check_folder(target)
        if is_asked(options["model"]):
            raise CommandError("Ask a model in words with `evaluate --study`, then print the table: benchmark_table.")
        folders = published_folders(options["data"], _named(options["pictures"]))
        name = options["name"] or default_name(options["model"])
        studies = score(
            folders=folders,
            spec=options["model"],
            name=name,
            how=How(
                device=options["device"],
                rule=options["rule"],
                labels=options["labels"],
                allow_download=options["allow_download"],
            ),
            tell=self.stderr.write,
        )
        standings = pooled_standings(studies)
        print_standings(self.stdout, standings)
        if options["json"]:
            numbers = [one.to_json() for one in standings]
            options["json"].write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
        if options["pdf"]:
            options["pdf"].write_bytes(report_pdf(standings, title=f"{name} next to people"))


def _named(given: Sequence[str]) -> dict[str, Path]:
    pairs = [one.partition("=") for one in given]
    wrong = next((first for first, equals, path in pairs if not (first and equals and path)), None)
    if wrong is not None:
        raise CommandError(f"--pictures {wrong}: write it as NAME=PATH.")
    return {name: Path(path) for name, _, path in pairs}
