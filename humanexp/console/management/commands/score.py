from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from analysis.documents.pdf import to_pdf
from analysis.documents.value import draw_figures
from humanexp.console.model_options import add_network_options, add_word_options, asking_of, how_of
from humanexp.console.scoring import answer, sets_named
from humanexp.console.terminal_report import print_as_published, print_scorecard
from humanexp.core.commands import OwnedCommand, check_folder
from humanexp.evaluations.specs import default_name
from humanexp.results.scorecard import Scorecard, scorecard, scorecard_document


class Command(OwnedCommand):
    help = (
        "Set models next to people on sets of pictures: imports what is not here, lets every model answer, and prints "
        "the table of all observers."
    )
    owned = "pictures, trials and predictions they are"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "models", metavar="SPEC", nargs="*", help="e.g. export:model.pt2, lite:0; none: those that answered already"
        )
        parser.add_argument(
            "--on",
            required=True,
            nargs="+",
            metavar="SET",
            help="folder with a set.toml, folder of trial files with their pictures, folder or archive of labelled "
            "pictures, or the name of a study or stimulus set",
        )
        parser.add_argument(
            "--pictures",
            action="append",
            default=[],
            metavar="NAME=PATH",
            help="folder or archive of the pictures of one folder of trial files, if they are elsewhere; repeatable",
        )
        parser.add_argument(
            "--label-space", default="", metavar="NAME", help="of folders of labelled pictures (default: the 16)"
        )
        parser.add_argument("--name", default="", help="of the model in the table, of one model")
        parser.add_argument(
            "--as", dest="as_published", choices=["model-vs-human"], help="print that benchmark's columns, by its rules"
        )
        parser.add_argument("--json", type=Path, metavar="FILE", help="write every number, unrounded")
        parser.add_argument("--csv", type=Path, metavar="FILE", help="write every answer of models, a row a picture")
        parser.add_argument("--pdf", type=Path, metavar="FILE", help="write the tables as a document")
        add_network_options(parser)
        add_word_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        for target in (options["json"], options["csv"], options["pdf"]):
            check_folder(target)
        tell = self.stderr.write
        sets = sets_named(
            options["on"],
            pictures=_named(options["pictures"]),
            labels=options["label_space"],
            owner=options["owner"],
            tell=tell,
        )
        answer(
            sets,
            options["models"],
            how=how_of(options),
            asking=asking_of(options),
            name=options["name"],
            owner=options["owner"],
            tell=tell,
        )
        card = scorecard(sets)
        if options["as_published"]:
            print_as_published(self.stdout, card.standings)
        else:
            print_scorecard(self.stdout, card)
        self._write(card, options)

    def _write(self, card: Scorecard, options: dict[str, Any]) -> None:
        if options["json"]:
            options["json"].write_text(json.dumps(card.to_json(), indent=1) + "\n", encoding="utf-8")
        if options["csv"]:
            card.by_picture().to_csv(options["csv"], index=False)
        if options["pdf"]:
            models = ", ".join(options["name"] or default_name(spec) for spec in options["models"])
            document = scorecard_document(card, title=f"{models or 'Models'} next to people", with_matrices=True)
            options["pdf"].write_bytes(to_pdf(document, draw_figures(document)))


def _named(given: Sequence[str]) -> dict[str, Path]:
    pairs = [one.partition("=") for one in given]
    wrong = next((first for first, equals, path in pairs if not (first and equals and path)), None)
    if wrong is not None:
        raise CommandError(f"--pictures {wrong}: write it as NAME=PATH.")
    return {name: Path(path) for name, _, path in pairs}
