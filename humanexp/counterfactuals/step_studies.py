"""Studies of step sizes: the searches that one `step_study` made, by network and step."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, stdev

from analysis.counterfactuals.summaries import SearchAverage, average_networks, average_searches
from humanexp.core.errors import InputRefused, NotFound
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.selectors import records_of
from humanexp.counterfactuals.services.searches import SECONDS

#: Name of the means over the networks of a study.
ALL_NETWORKS = "all networks"
_RUN = re.compile(r"-step-[0-9e+-]+-run-\d+")
_STEP = re.compile(r"(?<=step=)[^,]+")


def name_of_run(study: str, step: float, place: int) -> str:
    """Of the search with this step that is the place-th of its step, from 1."""
    return f"{study}-step-{step:g}-run-{place}".replace(".", "-")


@dataclass(frozen=True)
class Seconds:
    """What searches took, without the time of people; the deviation of one alone is no number."""

    mean: float
    sd: float

    @classmethod
    def of(cls, took: Sequence[float]) -> Seconds:
        return cls(fmean(took), stdev(took) if len(took) > 1 else math.nan)

    def to_dict(self) -> dict[str, float | None]:
        """What is no number becomes None."""
        return {name: value if math.isfinite(value) else None for name, value in vars(self).items()}


@dataclass(frozen=True)
class StepStudy:
    """Finished searches that differ in step, network and seed alone."""

    name: str
    runs: tuple[SearchRun, ...]
    #: searches that have not finished, and are left out
    n_unfinished: int = 0

    def __str__(self) -> str:
        return self.name

    @cached_property
    def by_network(self) -> dict[str, list[SearchRun]]:
        """Searches by the name of the network."""
        specs = dict.fromkeys(run.classifier for run in self.runs)
        names = {run.classifier: run.model_name for run in self.runs}
        found: dict[str, list[SearchRun]] = {}
        for spec in specs:
            name = names[spec] if list(names.values()).count(names[spec]) == 1 else f"{names[spec]} ({spec})"
            found[name] = [run for run in self.runs if run.classifier == spec]
        return found

    @cached_property
    def averages(self) -> dict[str, list[SearchAverage]]:
        """Means and standard deviations over runs, by network, smallest step first; of several also over networks."""
        found = {name: _averages(runs) for name, runs in self.by_network.items()}
        if len(found) > 1:
            over = {one.name: one for one in average_networks(list(found.values()))}
            found[ALL_NETWORKS] = [over[step] for step in self.steps]
        return found

    @cached_property
    def seconds(self) -> dict[str, Seconds]:
        """By step."""
        found: dict[str, list[float]] = {}
        for run in self.runs:
            found.setdefault(f"{_step_of(run):g}", []).append(run.facts.get(SECONDS, math.nan))
        return {step: Seconds.of(took) for step, took in found.items()}

    def time_saved(self, other: StepStudy) -> dict[str, float]:
        """By step of both, by which share of the other's time this study took less: OOR paper, Table 10.

        Raises
        ------
        InputRefused
            If they searched with other pictures, networks, oracle, budget, size, batch or device.
        """

        def work(study: StepStudy) -> set[tuple[object, ...]]:
            kept = ("source_set_id", "budget", "size_px", "batch", "device", "fgsm")
            return {
                (run.counterfactuals.count(), run.digests["classifier"], run.digests["oracle"])
                + tuple(getattr(run, name) for name in kept)
                for run in study.runs
            }

        if work(self) != work(other):
            raise InputRefused(
                f"{self.name} and {other.name} differ in more than the generator (pictures, networks, oracle, budget, "
                "size, batch or device), so that their times do not compare. Repeat one as the other was made."
            )
        return {
            step: 1 - took.mean / other.seconds[step].mean
            for step, took in self.seconds.items()
            if step in other.seconds
        }

    @cached_property
    def steps(self) -> list[str]:
        """As they are written, smallest first."""
        return list(dict.fromkeys(f"{step:g}" for step in sorted(map(_step_of, self.runs))))


def step_study_named(name: str) -> StepStudy:
    begin = name.replace(".", "-")
    made = SearchRun.objects.filter(name__startswith=f"{begin}-step-").select_related("source_set").order_by("pk")
    found = [run for run in made if _RUN.fullmatch(run.name.removeprefix(begin))]
    finished = [run for run in found if run.completed_at is not None]
    if not finished:
        raise NotFound(f"There is no finished search of a study of step sizes {name!r}: run “humanexp step_study”.")
    alike = {
        (run.source_set_id, run.digests["oracle"], run.budget, run.size_px, _STEP.sub("", run.generator))
        for run in finished
    }
    if len(alike) > 1:
        raise InputRefused(
            f"The searches of {name} differ in more than step, network and seed (pictures, oracle, budget, size or "
            "generator): run “humanexp step_study” under another name."
        )
    return StepStudy(name, tuple(finished), len(found) - len(finished))


def _averages(runs: Iterable[SearchRun]) -> list[SearchAverage]:
    by_step: dict[float, list[SearchRun]] = {}
    for run in runs:
        by_step.setdefault(_step_of(run), []).append(run)
    return average_searches({f"{step:g}": [records_of(run) for run in by_step[step]] for step in sorted(by_step)})


def _step_of(run: SearchRun) -> float:
    found = _STEP.search(run.generator)
    return float(found[0]) if found else 0.0
