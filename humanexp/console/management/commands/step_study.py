from __future__ import annotations

import json
import math
from argparse import ArgumentTypeError
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from analysis.counterfactuals.summaries import SearchAverage, average_searches
from humanexp.console.management.commands.counterfactuals import check_same, source_set_named
from humanexp.console.scripted_participants import whole_number
from humanexp.core.commands import OwnedCommand, check_folder
from humanexp.counterfactuals.models import CROWD, SearchRun
from humanexp.counterfactuals.selectors import records_of
from humanexp.counterfactuals.services.searches import create_search, fetch_networks, start, with_step
from humanexp.counterfactuals.step_studies import Seconds, name_of_run, step_study_named
from humanexp.jobs import runner

#: OOR paper, appendix H.
PUBLISHED = (0.01, 0.05, 0.1, 0.2, 0.5)
#: Quantities of the table, with their heads.
_SHOWN = (("oor", "OOR"), ("sa", "SA"), ("vr", "VR"), ("ca", "CA"), ("mean_loss", "loss"), ("mean_steps", "steps"))


class Command(OwnedCommand):
    help = "Search with several step sizes, several times each, and compare the means: which step finds the most?"
    owned = "searches they are"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--images", metavar="NAME", required=True, help="set of pictures")
        parser.add_argument(
            "--classifier", metavar="SPEC", required=True, action="append",
            help="model under test; several: each counts as a run (networks of one kind, trained from several seeds)",
        )  # fmt: skip
        parser.add_argument("--generator", metavar="G", required=True, help="without step=")
        parser.add_argument("--oracle", metavar="O", required=True, help="classifier:SPEC, clip:SPEC or ensemble:A|B")
        parser.add_argument("--name", required=True, help="beginning of the searches' names; the same again goes on")
        parser.add_argument(
            "--steps", type=_steps, default=PUBLISHED, metavar="S[,S...]", help="default: 0.01,0.05,0.1,0.2,0.5"
        )
        parser.add_argument("--runs", type=whole_number(1), default=5, help="seeds of each step and model (default: 5)")
        parser.add_argument("--budget", type=whole_number(1), default=10, help="perturbations (default: 10)")
        parser.add_argument("--pictures", type=whole_number(0), default=0, help="originals (default: all)")
        parser.add_argument("--size", type=whole_number(1), default=224, dest="size_px", help="default: 224")
        parser.add_argument("--batch", type=whole_number(1), default=32, help="default: 32")
        parser.add_argument("--seed", type=whole_number(0), default=0, help="of the first run")
        parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
        parser.add_argument(
            "--allow-download", action="store_true", help="fetch published weights of models and oracle"
        )
        parser.add_argument(
            "--beside", metavar="NAME",
            help="also compare the time with that of another study, which differs in its generator alone",
        )  # fmt: skip
        parser.add_argument("--json", metavar="FILE", type=Path, help="write means and deviations")

    def handle(self, *args: Any, **options: Any) -> None:
        check_folder(options["json"])
        if options["oracle"] == CROWD:
            raise CommandError("A study of step sizes takes an oracle that answers at once, not people.")
        beside = step_study_named(options["beside"]) if options["beside"] else None
        given = options["classifier"]
        specs = [given] if isinstance(given, str) else given
        if options["allow_download"]:
            fetch_networks(source_set_named(options["images"]), classifiers=specs, oracle=options["oracle"])
        by_step: dict[str, list[SearchRun]] = {}
        for step in options["steps"]:
            asked = [(spec, number) for spec in specs for number in range(options["runs"])]
            by_step[f"{step:g}"] = [
                self._searched(options, step, spec, number, place) for place, (spec, number) in enumerate(asked, 1)
            ]
        averages = average_searches({step: [records_of(run) for run in runs] for step, runs in by_step.items()})
        made = step_study_named(options["name"])
        Console(file=self.stdout, width=110).print(_table(averages, made.seconds))  # type: ignore[arg-type]
        saved = {} if beside is None else made.time_saved(beside)
        for step, share in saved.items():
            self.stdout.write(f"Step {step}: {abs(share):.1%} {'less' if share >= 0 else 'more'} time than {beside}.")
        if any(one.is_without_chance for one in averages):
            self.stdout.write(
                "All runs of a step came out the same: this generator leaves nothing to chance. Name several networks "
                "by --classifier instead."
            )
        if options["json"]:
            told = [
                {
                    **one.to_dict(),
                    "seconds": made.seconds[one.name].to_dict(),
                    "time_saved": saved.get(one.name),
                    "searches": [run.name for run in by_step[one.name]],
                }
                for one in averages
            ]
            options["json"].write_text(json.dumps({"steps": told}, indent=1) + "\n", encoding="utf-8")

    def _searched(self, options: dict[str, Any], step: float, spec: str, number: int, place: int) -> SearchRun:
        name = name_of_run(options["name"], step, place)
        decided = {
            "classifier": spec,
            "generator": with_step(options["generator"], step),
            "oracle": options["oracle"],
            "budget": options["budget"],
            "size_px": options["size_px"],
            "seed": options["seed"] + number,
        }
        run = SearchRun.objects.filter(name=name).first()
        if run is None:
            described = SearchRun(
                name=name,
                source_set=source_set_named(options["images"]),
                batch=options["batch"],
                device=options["device"],
                **decided,
            )
            run, job = create_search(run=described, pictures=options["pictures"], owner=options["owner"])
        else:
            check_same(run, decided, images=options["images"], pictures=options["pictures"])
            if run.completed_at is not None:
                return run
            job = start(run=run)
        runner.finish(job, what=f"The search {name}", tell=self.stderr.write)
        run.refresh_from_db()
        return run


def _steps(text: str) -> tuple[float, ...]:
    """Positive numbers, each once."""
    try:
        steps = tuple(float(one) for one in text.split(","))
    except ValueError:
        steps = (0.0,)
    if not all(math.isfinite(step) and step > 0 for step in steps) or len(set(steps)) < len(steps):
        raise ArgumentTypeError(f"{text!r} is no list of different positive numbers")
    return steps


def _table(averages: list[SearchAverage], seconds: Mapping[str, Seconds]) -> Table:
    table = Table("step", "runs", *(head for _name, head in _SHOWN), "time, s", box=None)
    for one in averages:
        told = [_told(one.mean[name], one.sd[name]) for name, _head in _SHOWN]
        took = seconds[one.name]
        table.add_row(one.name, str(one.n_runs), *told, _told(took.mean, took.sd, digits=1))
    return table


def _told(mean: float, sd: float, digits: int = 3) -> str:
    if not math.isfinite(mean):
        return "none"
    return f"{mean:.{digits}f}" + (f" ± {sd:.{digits}f}" if math.isfinite(sd) else "")
