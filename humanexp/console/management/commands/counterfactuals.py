from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from humanexp.core.commands import OwnedCommand, check_folder
from humanexp.counterfactuals.models import CROWD, SearchRun
from humanexp.counterfactuals.selectors import caveats_of
from humanexp.counterfactuals.services.rounds import start_round
from humanexp.counterfactuals.services.searches import (
    SECONDS,
    create_search,
    default_model_name,
    fetch_networks,
    start,
)
from humanexp.evaluations.specs import from_shelf
from humanexp.jobs import runner
from humanexp.jobs.models import Job
from humanexp.recruiters.registry import usual_ground
from humanexp.stimuli.models import SourceSet
from humanexp.studies.models import Population

#: Options that decide what a search finds.
_DECIDE = ("classifier", "generator", "oracle", "budget", "size_px", "seed", "greyscale", "fgsm")


class Command(OwnedCommand):
    help = "Search for counterfactuals: pictures perturbed against a model while an oracle still sees the same object."
    owned = "search it is"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--images", metavar="NAME", required=True, help="set of pictures")
        parser.add_argument("--classifier", metavar="SPEC", required=True, help="model under test: export:model.pt2")
        parser.add_argument(
            "--generator", metavar="G", required=True, help="corruption:gaussian_blur, pixel: or vqgan:CHECKPOINT"
        )
        parser.add_argument(
            "--oracle", metavar="O", required=True, help="classifier:SPEC, clip:SPEC, ensemble:A|B, or crowd:"
        )
        parser.add_argument("--name", default="", help="name of the search; one of the same name goes on")
        parser.add_argument("--budget", type=int, default=10, help="perturbations of a picture (default 10)")
        parser.add_argument("--pictures", type=int, default=0, help="originals, even over categories (default all)")
        parser.add_argument("--size", type=int, default=224, dest="size_px", help="side of the pictures (default 224)")
        parser.add_argument("--batch", type=int, default=32, help="pictures that advance together (default 32)")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--greyscale", action="store_true", help="control: originals without colour")
        parser.add_argument(
            "--fgsm", type=float, nargs="+", default=0.0, metavar="STEP",
            help="control: an initial signed step of this size; several, such as 0 0.003: a search each, in one table",
        )  # fmt: skip
        parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
        parser.add_argument("--allow-download", action="store_true", help="fetch published weights of model and oracle")
        parser.add_argument("--answers", type=int, default=5, help="crowd: people who judge a picture (default 5)")
        parser.add_argument("--scripted", action="store_true", help="crowd: of scripted participants")
        parser.add_argument("--cap", type=int, metavar="CENTS", default=None, help="crowd: most that all rounds cost")
        parser.add_argument("--json", metavar="FILE", type=Path, help="write the scores")

    def handle(self, *args: Any, **options: Any) -> None:
        check_folder(options["json"])
        starts = _starts(options["fgsm"])
        if len(starts) > 1 and options["oracle"] == CROWD:
            raise CommandError("With people as the oracle, name one --fgsm at a time.")
        if options["allow_download"]:
            fetch_networks(
                source_set_named(options["images"]), classifiers=[options["classifier"]], oracle=options["oracle"]
            )
        name = options["name"] or f"{options['images']}-{default_model_name(options['classifier'])}"
        runs = [
            self._searched({**options, "fgsm": start}, _name_of(name, start) if len(starts) > 1 else name)
            for start in starts
        ]
        waiting = next((run for run in runs if run.completed_at is None), None)
        if waiting is not None:
            self._tell_waiting(waiting)
            return
        for run in runs:
            self._tell(run)
        if len(runs) > 1:
            Console(file=self.stdout, width=110).print(_table(runs))  # type: ignore[arg-type]
        if options["json"]:
            told = _scores(runs[0]) if len(runs) == 1 else {"starts": [{**_scores(run), **_start(run)} for run in runs]}
            options["json"].write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")

    def _searched(self, options: dict[str, Any], name: str) -> SearchRun:
        """The search of this name, made or taken on to its end, or to where people judge."""
        run = SearchRun.objects.filter(name=name).first()
        if run is None:
            run, job = create_search(
                run=_described(options, name), pictures=options["pictures"], owner=options["owner"]
            )
        else:
            check_same(
                run,
                {field: options[field] for field in _DECIDE},
                images=options["images"],
                pictures=options["pictures"],
            )
            is_judged = run.is_crowd and run.completed_at is None and run.rounds.exists()
            job = _next_round(run) if is_judged else start(run=run)
        for caveat in caveats_of(run):
            self.stderr.write(f"Warning: {caveat}")
        runner.finish(job, what="The search", tell=self.stderr.write)
        run.refresh_from_db()
        return run

    def _tell_waiting(self, run: SearchRun) -> None:
        latest = run.rounds.latest("step")
        self.stdout.write(
            f"{run.name}: {len(latest.stimuli)} pictures wait for people as the study {latest.study.slug}: publish "
            f"it (publish {latest.study.slug} --to {usual_ground()}); their verdicts take the search on by "
            "themselves"
        )

    def _tell(self, run: SearchRun) -> None:
        pooled = run.scores["pooled"]
        took = f"; the search took {run.facts[SECONDS]:.1f} s" if SECONDS in run.facts else ""
        self.stdout.write(
            f"{run.name}: {pooled['n']} pictures, {pooled['n_valid']} validated; SA {_told(pooled['sa'])}, "
            f"VR {_told(pooled['vr'])}, CA {_told(pooled['ca'])}, OOR {_told(pooled['oor'])}, over validated pictures "
            f"{_told(pooled['oor_validated'])}{took}"
        )


def _starts(given: float | list[float]) -> list[float]:
    """Signed steps to begin with, each once; call_command gives a single one as it is."""
    starts = given if isinstance(given, list) else [given]
    if len(set(starts)) < len(starts):
        raise CommandError("--fgsm: name each step once.")
    return starts


def _name_of(name: str, step: float) -> str:
    """Of the search that begins with this signed step, where there are several."""
    return f"{name}-fgsm-{step:g}".replace(".", "-") if step else name


def _scores(run: SearchRun) -> dict[str, Any]:
    took = {SECONDS: run.facts[SECONDS]} if SECONDS in run.facts else {}
    return {**run.scores, "caveats": caveats_of(run), **took}


def _start(run: SearchRun) -> dict[str, Any]:
    return {"search": run.name, "fgsm": run.fgsm}


def _table(runs: list[SearchRun]) -> Table:
    """Searches by what they begin with, as in Table 5 of the paper."""
    table = Table("start", "SA", "VR", "CA", "OOR", "95 % interval", box=None)
    for run in runs:
        pooled = run.scores["pooled"]
        low, high = pooled["intervals"]["oor"]
        table.add_row(
            f"signed step {run.fgsm:g}" if run.fgsm else "originals",
            *(_told(pooled[name]) for name in ("sa", "vr", "ca", "oor")),
            "none" if low is None else f"{low:.3f} or more" if high is None else f"{low:.3f} to {high:.3f}",
        )
    return table


def _next_round(run: SearchRun) -> Job:
    """Go on with the answers to the newest round that are there."""
    job = start_round(one=run.rounds.select_related("run", "study").latest("step"))
    if job is None:
        raise CommandError(f"The search {run} waits for people.")
    return job


def source_set_named(name: str) -> SourceSet:
    """The set of pictures, or a refusal that lists those that there are."""
    source_set = SourceSet.objects.filter(name=name).first()
    if source_set is None:
        known = ", ".join(SourceSet.objects.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"There is no set of pictures {name!r}; there are: {known}.")
    return source_set


def _described(options: dict[str, Any], name: str) -> SearchRun:
    source_set = source_set_named(options["images"])
    if options["oracle"] == CROWD and options["cap"] is None and not options["scripted"]:
        raise CommandError("People cost money: say what all rounds may cost together, --cap CENTS.")
    return SearchRun(
        name=name,
        source_set=source_set,
        batch=options["batch"],
        **{field: options[field] for field in _DECIDE},
        device=options["device"],
        answers_per_picture=options["answers"],
        population=(Population.SCRIPTED if options["scripted"] else Population.PEOPLE).value,
        cap_cents=options["cap"],
    )


def check_same(run: SearchRun, decided: dict[str, Any], *, images: str, pictures: int) -> None:
    """Refuse to take the scores of another search for those of this one."""
    given = decided | {field: from_shelf(decided[field]) for field in ("classifier", "generator", "oracle")}
    differing = [field.removesuffix("_px") for field, value in given.items() if getattr(run, field) != value]
    if images != run.source_set.name:
        differing.insert(0, "images")
    if pictures and pictures != run.counterfactuals.count():
        differing.append("pictures")
    if differing:
        raise CommandError(
            f"There is already a search named {run} with another --{differing[0]}: give this one a --name of its own."
        )


def _told(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
