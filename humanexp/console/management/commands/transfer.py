from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from rich.console import Console
from rich.table import Table

from humanexp.core.commands import ProgressLine, RefusableCommand, check_folder
from humanexp.counterfactuals.selectors import search_by_name
from humanexp.counterfactuals.services.crossing import Crossed, cross
from humanexp.counterfactuals.services.searches import fetch_networks


class Command(RefusableCommand):
    help = "Test the models of finished searches, and further ones, on the counterfactuals of each search."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("search", nargs="+", metavar="SEARCH", help="finished searches of the same pictures")
        parser.add_argument(
            "--classifier", metavar="SPEC", action="append", default=[], help="a network that was not searched, too"
        )
        parser.add_argument("--allow-download", action="store_true", help="fetch published weights")
        parser.add_argument("--json", metavar="FILE", type=Path, help="write the scores with their intervals")

    def handle(self, *args: Any, **options: Any) -> None:
        check_folder(options["json"])
        runs = [search_by_name(name) for name in dict.fromkeys(options["search"])]
        if options["allow_download"]:
            fetch_networks(runs[0].source_set, classifiers=options["classifier"])
        with ProgressLine(sys.stderr) as line:
            found = cross(runs, options["classifier"], line)
        Console(file=self.stdout, width=110).print(_table(found))  # type: ignore[arg-type]
        if options["json"]:
            told = {"crossed": [one.to_dict() for one in found]}
            options["json"].write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _table(found: list[Crossed]) -> Table:
    table = Table("made against", "pictures", "tested", "SA", "accuracy", "OOR", box=None)
    for one in found:
        score = one.scores.score
        table.add_row(
            f"{one.run.model_name} ({one.run.name})",
            str(score.n_valid),
            one.tested,
            _told(score.sa),
            _told(score.ca),
            _told(score.oor) + _ends(one.scores.intervals["oor"]),
        )
    return table


def _ends(interval: tuple[float, float]) -> str:
    low, high = interval
    if not math.isfinite(low):
        return ""
    return f" ({low:.2f} to {high:.2f})" if math.isfinite(high) else f" ({low:.2f} or more)"


def _told(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "none"
