"""How the stimuli of a set cover the range of visual change, as pages, the JSON and the picture tell it.

A complete set has its counts stored; while it grows they are counted by ranges of an index. No row is read.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

from django.core.cache import cache

from analysis import opencv as cv2
from analysis.corruptions import CORRUPTIONS
from analysis.figures.coverage import CoverageRow, Example, write_coverage
from analysis.generation.imagenet_c import function_label
from analysis.visual_change.coverage import PUBLISHED_SHARES, Coverage, stimuli_that_cover, wanted_per_bin
from humanexp.core.storage import current_path
from humanexp.stimuli.models import Stimulus, StimulusSet
from humanexp.stimuli.selectors import sets

#: Bins of equal width over [0, 1], and those of the paper.
OURS, PAPER = 40, 39
#: A bin with fewer stimuli is not covered (analysis.visual_change.coverage.MINIMUM_PER_BIN).
MINIMUM = 20
#: Visual changes at which example pictures are shown: the middle of each tenth.
EXAMPLE_LEVELS = tuple((2 * place + 1) / 20 for place in range(10))
_EXAMPLE_PX = 128
#: Counts of so many stimuli are kept for some seconds while a set grows, and for longer where counting is slow.
_LONG_COUNT, _KEPT_S, _REST = 5_000, 10, 50
#: Counts from which a covered bin is drawn darker.
DARKER = (50, 200)


@dataclass(frozen=True)
class Bin:
    """Stimuli of a function between two visual changes."""

    place: int
    low: float
    high: float
    count: int
    #: thin = fewer than the minimum, empty = none, out = none and beyond what the median picture reaches
    kind: str

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2


@dataclass(frozen=True)
class FunctionCoverage:
    name: str
    label: str
    family: str
    n: int
    counts: tuple[int, ...]
    paper_counts: tuple[int, ...]
    #: the median picture's largest visual change, and the smallest of these; None where nobody measured them
    reach: float | None
    worst_reach: float | None
    #: targets that no try met
    missed: int
    #: pictures made and measured for one stimulus; None while the set grows
    tries: float | None
    #: all stimuli that the set will have are there
    is_whole: bool = True

    minimum: ClassVar = MINIMUM

    @cached_property
    def bins(self) -> list[Bin]:
        return [self._bin(place, count) for place, count in enumerate(self.counts)]

    def _bin(self, place: int, count: int) -> Bin:
        low, high = place / OURS, (place + 1) / OURS
        if count >= MINIMUM:
            kind = ("full", "fuller", "fullest")[sum(count >= limit for limit in DARKER)]
        elif self.reach is not None and (low + high) / 2 > self.reach:
            kind = "out"
        else:
            kind = "thin" if count else "empty"
        return Bin(place, low, high, count, kind)

    @property
    def covered(self) -> int:
        return sum(count >= MINIMUM for count in self.counts)

    @property
    def paper_covered(self) -> int:
        return sum(count >= MINIMUM for count in self.paper_counts)

    @cached_property
    def reachable(self) -> int:
        """Bins whose middle the median picture reaches, and those that are covered beyond it."""
        return sum(one.kind != "out" for one in self.bins)

    @property
    def is_small(self) -> bool:
        """Too few stimuli for the minimum in every bin, however they lie."""
        return self.is_whole and 0 < self.n < stimuli_that_cover(OURS, MINIMUM)

    @property
    def wanted(self) -> int:
        """What is asked of each bin: of a small function its even share."""
        return wanted_per_bin(self.n, bins=OURS, minimum=MINIMUM) if self.is_small else MINIMUM

    @property
    def holding(self) -> int:
        """Bins that hold what is asked of them."""
        return sum(count >= self.wanted for count in self.counts)

    @cached_property
    def lacking(self) -> list[Bin]:
        """Bins that can be reached and hold too few."""
        return [one for one in self.bins if one.count < self.wanted and one.kind != "out"]

    @property
    def is_even(self) -> bool:
        return not self.lacking

    @property
    def missed_share(self) -> float | None:
        return self.missed / self.n if self.n else None

    @property
    def highest(self) -> int:
        return max(*self.counts, MINIMUM)


def coverage_of(stimulus_set: StimulusSet) -> list[FunctionCoverage]:
    """Coverage of every function of a set, in the set's order."""
    return [function_coverage(stimulus_set, name) for name in stimulus_set.corruptions]


def function_coverage(stimulus_set: StimulusSet, name: str) -> FunctionCoverage:
    """Coverage of one function: stored when the set was completed, else counted now."""
    stored = stimulus_set.coverage.get(name) if stimulus_set.completed_at else None
    pilot = stimulus_set.pilots.get(name, {})
    corruption = CORRUPTIONS.get(name)
    if stored:
        counts, paper = stored["ours"]["counts"], stored["paper"]["counts"]
        missed, tries = stored.get("missed", 0), stored.get("tries")
    else:
        counted, missed = _counted_now(stimulus_set, name)
        counts, paper, tries = regrouped(counted, OURS), regrouped(counted, PAPER), None
    return FunctionCoverage(
        name=name,
        label=label_of(name),
        family=str(corruption.family if corruption else ""),
        n=sum(counts),
        counts=tuple(counts),
        paper_counts=tuple(paper),
        reach=pilot.get("reach"),
        worst_reach=pilot.get("worst_reach"),
        missed=missed,
        tries=tries,
        is_whole=bool(stored),
    )


def _counted_now(stimulus_set: StimulusSet, name: str) -> tuple[list[int], int]:
    """Counts of a set that grows. What took long to count is not counted again at once: pages ask every few seconds."""
    key = f"stimuli:growing:{stimulus_set.pk}:{stimulus_set.created_at.timestamp()}:{name}"
    kept = cache.get(key)
    if kept is not None:
        return kept[0], kept[1]
    started = time.perf_counter()
    counted = sets.count_between(stimulus_set, name, common_edges())
    missed = sets.out_of_reach(stimulus_set, name)
    elapsed_s = time.perf_counter() - started
    if sum(counted) >= _LONG_COUNT:
        cache.set(key, (counted, missed), timeout=max(_KEPT_S, _REST * elapsed_s))
    return counted, missed


def label_of(name: str) -> str:
    """A function's name for people; imported sets may hold functions that are not registered here."""
    return "Clean picture" if name == "none" else function_label(name)


def coverage_json(stimulus_set: StimulusSet) -> dict[str, Any]:
    """The coverage report: every count, with what it was counted on."""
    return {
        "stimulus_set": stimulus_set.name,
        "source_set": stimulus_set.source_set.name,
        "complete": stimulus_set.completed_at is not None,
        "sampling": stimulus_set.sampling,
        "framing": stimulus_set.framing,
        "count_per_corruption": stimulus_set.count_per_corruption,
        "seed": stimulus_set.seed,
        "size_px": stimulus_set.size_px,
        "enlarged": stimulus_set.enlarged,
        "metric": stimulus_set.metric,
        "minimum": MINIMUM,
        "functions": {function.name: _function_json(function) for function in coverage_of(stimulus_set)},
    }


@dataclass(frozen=True)
class Place:
    """A place along the axis of visual change, with the stimulus that stands there, if there is one."""

    level: float
    stimulus: Stimulus | None


def examples_of(stimulus_set: StimulusSet, function: FunctionCoverage) -> list[Place]:
    """Pictures of a function along the axis of visual change."""
    found = sets.nearest_to_levels(stimulus_set, function.name, EXAMPLE_LEVELS)
    return [Place(level, stimulus) for level, stimulus in zip(EXAMPLE_LEVELS, found, strict=True)]


def write_figure(stimulus_set: StimulusSet, path: Path) -> Path:
    """The coverage as a figure for a paper: beside every function the share of the paper's bins, ours and published."""
    rows = [
        CoverageRow(one.label, one.counts, one.reach, one.paper_covered / PAPER, PUBLISHED_SHARES.get(one.name))
        for one in coverage_of(stimulus_set)
    ]
    title = f"{stimulus_set.name}: stimuli in {OURS} bins; covered share of the paper's {PAPER}"
    return write_coverage(path, rows, title=title, minimum=MINIMUM)


def write_picture(stimulus_set: StimulusSet, path: Path, function: str = "") -> Path:
    """The coverage as a figure file, with pictures of one function below it."""
    functions = coverage_of(stimulus_set)
    shown = next((one for one in functions if one.name == function), functions[0])
    examples = []
    for place in examples_of(stimulus_set, shown):
        pixels = cv2.imread(str(current_path(place.stimulus.file))) if place.stimulus else None
        if place.stimulus and pixels is not None:
            small = cv2.resize(pixels, (_EXAMPLE_PX, _EXAMPLE_PX), interpolation=cv2.INTER_AREA)
            examples.append(Example(place.stimulus.visual_change, cv2.cvtColor(small, cv2.COLOR_BGR2RGB)))
    below = f"; pictures: {shown.label.lower()}" if examples else ""
    return write_coverage(
        path,
        [CoverageRow(one.label, one.counts, one.reach) for one in functions],
        title=f"{stimulus_set.name}: stimuli in {OURS} bins of visual change{below}",
        minimum=MINIMUM,
        examples=examples,
    )


def stored_total(stimulus_set: StimulusSet) -> int | None:
    """Corrupted stimuli of a complete set, without counting."""
    if not stimulus_set.completed_at or not stimulus_set.coverage:
        return None
    return sum(int(stimulus_set.coverage.get(name, {}).get("n", 0)) for name in stimulus_set.corruptions)


def _function_json(function: FunctionCoverage) -> dict[str, Any]:
    reach = None if function.reach is None else {"median": function.reach, "lowest": function.worst_reach}
    return {
        "label": function.label,
        "n": function.n,
        "ours": _counts_json(function.counts),
        "paper": _counts_json(function.paper_counts),
        "reachable_bins": function.reachable,
        "wanted_per_bin": function.wanted,
        "lacking_bins": [[one.low, one.high] for one in function.lacking],
        "reach": reach,
        "unreachable": function.missed,
        "unreachable_share": function.missed_share,
        "evaluations_per_stimulus": function.tries,
    }


def _counts_json(counts: tuple[int, ...]) -> dict[str, Any]:
    edges = tuple(place / len(counts) for place in range(len(counts) + 1))
    return {**Coverage(counts=counts, minimum=MINIMUM, edges=edges).to_dict(), "edges": list(edges)}


@lru_cache
def edges_of(bins: int) -> tuple[float, ...]:
    """The smallest number of each bin j = floor(v * bins), then 1, which the last bin holds too."""
    return (*(_first_of(place, bins) for place in range(bins)), 1.0)


@lru_cache
def common_edges() -> tuple[float, ...]:
    """Edges of both divisions: one pass over them counts for both."""
    return tuple(sorted({*edges_of(OURS), *edges_of(PAPER)}))


def regrouped(counts: list[int], bins: int) -> list[int]:
    """Counts between `common_edges` added up to those of one division."""
    totals = [0] * bins
    starts = common_edges()
    for start, count in zip(starts[:-1], counts, strict=True):
        totals[min(int(start * bins), bins - 1)] += count
    return totals


def _first_of(place: int, bins: int) -> float:
    """Multiplying rounds, so a number just below place / bins may already belong to the bin, and its quotient not."""
    edge = place / bins
    while int(edge * bins) < place:
        edge = math.nextafter(edge, 1.0)
    while place and int(math.nextafter(edge, 0.0) * bins) >= place:
        edge = math.nextafter(edge, 0.0)
    return edge
