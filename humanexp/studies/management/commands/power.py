from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import IO, Any, cast

from django.core.management.base import CommandParser
from rich.console import Console
from rich.table import Table

from humanexp.core.commands import RefusableCommand, check_folder
from humanexp.jobs import runner
from humanexp.studies.pages.power import PowerPage, power_page
from humanexp.studies.power import USUAL_DIFFERENCE, PowerQuestion, planned_answers, request_power
from humanexp.studies.selectors import study_by_slug


class Command(RefusableCommand):
    help = "Simulate a planned study: would it find the difference that matters, and how many people would?"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY")
        parser.add_argument(
            "--difference", type=float, default=USUAL_DIFFERENCE, help=f"in area (default: {USUAL_DIFFERENCE:g})"
        )
        parser.add_argument("--people", type=int, help="whose sessions count (default: all that are planned)")
        parser.add_argument("--bend", type=float, default=0.8, help="visual change at half height (default: 0.8)")
        parser.add_argument("--image-sd", type=float, default=2.0, help="spread of pictures, logits (default: 2)")
        parser.add_argument("--participant-sd", type=float, default=0.5, help="spread of people, logits (default: 0.5)")
        parser.add_argument("--runs", type=int, default=100, help="simulated studies of each size (default: 100)")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--json", type=Path, metavar="FILE", help="write every number, unrounded")

    def handle(self, *args: Any, **options: Any) -> None:
        target: Path | None = options["json"]
        check_folder(target)
        study = study_by_slug(options["study"])
        if options["people"] is None:
            planned = planned_answers(study)
            options["people"] = planned.people if planned else 2
        question = PowerQuestion(**{one.name: options[one.name] for one in fields(PowerQuestion)})
        estimate, job = request_power(study=study, question=question)
        runner.finish(job, what="The simulation", tell=self.stderr.write)
        estimate.refresh_from_db()
        page = cast(PowerPage, power_page(estimate))
        Console(file=cast(IO[str], self.stdout), width=110).print(_table(page))
        for needed in page.found.needed:
            interval = f" ({needed.interval[0]} to {needed.interval[1]})" if needed.interval else ""
            self.stdout.write(f"Power {needed.power:g}: {needed.relation} {needed.people} people{interval}.")
        for sentence in (*page.on_models, page.on_equal_corruptions, page.on_recruiters):
            if sentence:
                self.stdout.write(sentence)
        if target is not None:
            target.write_text(json.dumps(estimate.report, indent=1) + "\n", encoding="utf-8")
            self.stdout.write(f"Every number: {target}")


def _table(page: PowerPage) -> Table:
    """One row a simulated size."""
    table = Table("people", "answers", "power", "95 % interval", "interval of an area", box=None)
    for row in page.rows:
        low, high = row.interval
        table.add_row(
            f"{row.report.people}{' (planned)' if row.is_planned else ''}",
            f"{row.report.answers}",
            f"{row.report.different:.2f}",
            f"{low:.2f} – {high:.2f}",
            f"{row.report.interval_width:.3f} wide",
        )
    return table
