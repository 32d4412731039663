"""The coverage of a stimulus set as its page shows it: bars in a drawing of 100 x 100, and their numbers."""

from __future__ import annotations

from dataclasses import dataclass

from humanexp.stimuli import selectors
from humanexp.stimuli.models import Stimulus, StimulusSet

#: Levels of visual change at which example pictures are shown.
EXAMPLE_LEVELS = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    #: CSS class: enough stimuli, too few of them, or beyond what the function reaches
    kind: str
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class FunctionCoverage:
    name: str
    label: str
    n: int
    covered: int
    #: bins whose middle the median picture reaches
    reachable: int
    minimum: int
    reach: float | None
    worst_reach: float | None
    missed: int
    tries: float
    bars: list[Bar]
    minimum_y: float
    highest: int
    examples: list[Stimulus]

    @property
    def is_even(self) -> bool:
        return self.covered >= self.reachable


def coverage_of(stimulus_set: StimulusSet) -> list[FunctionCoverage]:
    """Coverage of every function of a set, with example pictures."""
    from analysis.corruptions import CORRUPTIONS

    making = selectors.making_by_corruption(stimulus_set)
    found = []
    for name, changes in selectors.changes_by_corruption(stimulus_set).items():
        missed, tries = making.get(name, (0, 0.0))
        pilot = stimulus_set.pilots.get(name, {})
        found.append(
            _function_coverage(
                name=name,
                label=CORRUPTIONS[name].label if name in CORRUPTIONS else name,
                changes=changes,
                reach=pilot.get("reach"),
                worst_reach=pilot.get("worst_reach"),
                missed=missed,
                tries=tries,
                examples=selectors.examples(stimulus_set, name, list(EXAMPLE_LEVELS)),
            )
        )
    return found


def _function_coverage(
    *,
    name: str,
    label: str,
    changes: list[float],
    reach: float | None,
    worst_reach: float | None,
    missed: int,
    tries: float,
    examples: list[Stimulus],
) -> FunctionCoverage:
    from analysis.visual_change import measure_coverage

    coverage = measure_coverage(changes)
    highest = max(*coverage.counts, coverage.minimum)
    width = 100 / len(coverage.counts)
    bars = []
    for index, count in enumerate(coverage.counts):
        low, high = coverage.edges[index], coverage.edges[index + 1]
        is_reachable = reach is None or (low + high) / 2 <= reach
        kind = "" if count >= coverage.minimum else "is-thin" if is_reachable else "is-out"
        height = 96 * count / highest
        bars.append(Bar(index * width, 100 - height, 0.8 * width, height, kind, low, high, count))
    return FunctionCoverage(
        name=name,
        label=label,
        n=len(changes),
        covered=coverage.covered,
        reachable=sum(bar.kind != "is-out" for bar in bars),
        minimum=coverage.minimum,
        reach=reach,
        worst_reach=worst_reach,
        missed=missed,
        tries=tries,
        bars=bars,
        minimum_y=100 - 96 * coverage.minimum / highest,
        highest=highest,
        examples=examples,
    )
