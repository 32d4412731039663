from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from analysis.figures.drawing import WIDTHS
from analysis.figures.paper import FORMATS
from humanexp.console.figures.registry import FIGURES, figure_named
from humanexp.console.figures.subjects import subject_of
from humanexp.core.commands import RefusableCommand
from humanexp.core.errors import InvalidRequest

#: Names of options, and what they choose; a figure takes those of its own.
_CHOICES = {
    "property": "accuracy (default) or consistency",
    "function": "corruption function; of the figures indices and levels also all",
    "model": "name of a classifier",
    "original": "key of an original",
    "at": "visual changes, separated by commas",
    "beside": "another stimulus set",
    "searches": "further searches of the same pictures, separated by commas",
    "condition": "condition of the pairs",
    "accuracy": "share right at which answers are compared (default: 0.5)",
    "panels": "found (default): classes that the verdicts make, else families; families; published: VCR's classes",
}


class Command(RefusableCommand):
    help = "Draw a figure of the papers in a journal's size, with its data as CSV beside it; --list names them all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", metavar="NAME", help="of the figure")
        parser.add_argument(
            "of",
            nargs="?",
            metavar="SUBJECT",
            help="study, stimulus set, search, step study, or number of a retraining",
        )
        parser.add_argument("--list", action="store_true", help="name every figure, what it needs, and whose it is")
        parser.add_argument("--to", type=Path, default=Path(), metavar="DIR", help="folder (default: this one)")
        parser.add_argument("--width", choices=sorted(WIDTHS), default="page", help="column: 89 mm, page: 183 mm")
        parser.add_argument("--format", default="pdf", metavar="KINDS", help="pdf, svg, png, separated by commas")
        parser.add_argument("--font", default="", help="name of an installed family of letters")
        for name, words in _CHOICES.items():
            parser.add_argument(f"--{name}", default="", metavar=name.upper(), help=words)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            self._list()
            return
        if not options["name"]:
            raise InvalidRequest("Name a figure, or ask for all of them with --list.")
        figure = figure_named(options["name"])
        if figure.of != "nothing" and not options["of"]:
            raise InvalidRequest(f"The figure {figure.name} is drawn of a {figure.of}: name one behind the figure.")
        kinds = [kind.strip() for kind in options["format"].split(",") if kind.strip()]
        if not kinds or set(kinds) - set(FORMATS):
            raise InvalidRequest(f"A figure comes as {', '.join(FORMATS)}, not as {options['format']!r}.")
        drawn = figure.drawn(subject_of(figure.of, options["of"] or ""), {name: options[name] for name in _CHOICES})
        try:
            written = drawn.write_all(options["to"], figure.name, kinds, width=options["width"], font=options["font"])
        except OSError as error:
            raise CommandError(str(error)) from error
        for path in written:
            self.stdout.write(f"{path.stat().st_size:>12,}  {path}")
        for sentence in drawn.caption:
            self.stdout.write(sentence)

    def _list(self) -> None:
        for one in FIGURES.values():
            self.stdout.write(f"{one.name}: {one.title} ({one.papers})")
            takes = f" Choices: {', '.join('--' + name for name in one.choices)}." if one.choices else ""
            of = "" if one.of == "nothing" else f" Of a {one.of}."
            self.stdout.write(f"    It needs {one.needs}.{of}{takes}")
