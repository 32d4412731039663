from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import IO, Any, cast

from django.core.management.base import CommandParser
from rich.console import Console
from rich.table import Table

from analysis.claims.agreement import PLANNED_ACCURACY, planned_kappa_text
from humanexp.core.commands import RefusableCommand, check_folder
from humanexp.core.errors import InputRefused
from humanexp.jobs import runner
from humanexp.studies.pages.power import PowerPage, power_page
from humanexp.studies.power import (
    USUAL_DIFFERENCE,
    PowerQuestion,
    common_pictures,
    planned_answers,
    request_power,
)
from humanexp.studies.selectors import study_by_slug
from humanexp.studies.two_ways import TwoWays, two_ways


class Command(RefusableCommand):
    help = (
        "Simulate a planned study: would it find the difference that matters, and how many people would? With --kappa: "
        "how many pictures find an error consistency?"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", nargs="?", help="may be left out with --kappa")
        parser.add_argument(
            "--difference", type=float, default=USUAL_DIFFERENCE, help=f"in area (default: {USUAL_DIFFERENCE:g})"
        )
        parser.add_argument("--people", type=int, help="whose sessions count (default: all that are planned)")
        parser.add_argument("--bend", type=float, default=0.8, help="visual change at half height (default: 0.8)")
        parser.add_argument("--image-sd", type=float, default=2.0, help="spread of pictures, logits (default: 2)")
        parser.add_argument("--participant-sd", type=float, default=0.5, help="spread of people, logits (default: 0.5)")
        parser.add_argument("--runs", type=int, default=100, help="simulated studies of each size (default: 100)")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            "--kappa",
            type=float,
            nargs="+",
            metavar="KAPPA",
            help="instead: pictures that find an error consistency of two observers, or with two of them a difference "
            "between two models and the same person",
        )
        parser.add_argument(
            "--accuracies",
            type=float,
            nargs="+",
            metavar="SHARE",
            help=f"of both observers, or of the person and both models (default: {PLANNED_ACCURACY:g} each)",
        )
        parser.add_argument("--between", type=float, metavar="KAPPA", help="of the two models with each other")
        parser.add_argument(
            "--ways",
            action="store_true",
            help="instead: people, answers, hours and pay of the two ways to find functions that are alike",
        )
        parser.add_argument("--json", type=Path, metavar="FILE", help="write every number, unrounded")

    def handle(self, *args: Any, **options: Any) -> None:
        target: Path | None = options["json"]
        check_folder(target)
        if options["kappa"] is not None:
            self._plan_kappa(options, target)
            return
        for name in ("accuracies", "between"):
            if options[name] is not None:
                raise InputRefused(f"--{name} belongs to --kappa: give the error consistency that is to be found.")
        if options["study"] is None:
            raise InputRefused("Name a study, or give --kappa: pictures for an error consistency.")
        study = study_by_slug(options["study"])
        ways = two_ways(study)
        if options["ways"]:
            if ways is None:
                raise InputRefused("This study judges pictures: it compares no corruption functions.")
            self._print_ways(ways)
            self._write(target, ways.to_dict())
            return
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
        if ways is not None:
            self._print_ways(ways)
        self._write(target, estimate.report)

    def _print_ways(self, ways: TwoWays) -> None:
        table = Table("way", "shows", "people", "answers", "hours", "pay", box=None)
        for row in ways.rows:
            table.add_row(
                row.name,
                row.shows,
                "–" if row.people is None else f"{row.people:,}",
                "out of reach" if row.answers is None else f"{row.answers:,}",
                "–" if row.hours is None else f"{row.hours:.2f}",
                row.pay,
            )
        Console(file=cast(IO[str], self.stdout), width=110).print(table)
        self.stdout.write(ways.assumed)

    def _plan_kappa(self, options: dict[str, Any], target: Path | None) -> None:
        from analysis.power.kappa import KappaQuestion, plan_kappa

        kappas = tuple(options["kappa"])
        accuracies = tuple(options["accuracies"] or [PLANNED_ACCURACY] * (len(kappas) + 1))
        question = KappaQuestion(accuracies, kappas, options["between"])
        pictures = None
        if options["study"] is not None:
            pictures = common_pictures(study_by_slug(options["study"]), of_two_people=len(kappas) == 1)
        found = plan_kappa(question, pictures=pictures, seed=options["seed"])
        table = Table("pictures in common", "power", "95 % interval", box=None)
        for one in found.sizes:
            low, high = one.interval
            planned = " (planned)" if one.wanted is None else ""
            table.add_row(f"{one.pictures:,}{planned}", f"{one.reached:.2f}", f"{low:.2f} – {high:.2f}")
        Console(file=cast(IO[str], self.stdout), width=110).print(table)
        self.stdout.write(planned_kappa_text(kappas, accuracies, question.between, runs=found.runs))
        self._write(target, found.to_dict())

    def _write(self, target: Path | None, report: dict[str, Any]) -> None:
        if target is not None:
            target.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
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
