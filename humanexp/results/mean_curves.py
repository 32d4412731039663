"""One curve of people, and of the best networks, over the corruption functions of another study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from analysis.findings.model.curves import Curve
from analysis.findings.model.entry import HUMANS
from humanexp.participation.own_curves import EarlierLine
from humanexp.results import selectors
from humanexp.studies.models import Study

#: Networks that are shown: those with the largest areas. More lines than these cannot be told apart.
NETWORKS = 3
#: The curves are kept at these amounts of change.
GRID = tuple(number / 20 for number in range(21))


def mean_curves(found: Study, study: Study) -> list[EarlierLine]:
    """Means over the corruption functions of `study`; none where people's curve of one of them is missing."""
    run, wanted = selectors.latest_run(found), study.stimulus_set
    if run is None or wanted is None or not wanted.corruptions:
        return []
    by_population: dict[str, list[Curve]] = {}
    for curve in selectors.findings(run).curves:
        is_alike = curve.property == "accuracy" and curve.abscissa == "visual_change" and curve.label_space == 16
        if is_alike and curve.corruption in wanted.corruptions:
            by_population.setdefault(curve.population, []).append(curve)
    whole = {name: own for name, own in by_population.items() if len(own) == len(wanted.corruptions)}
    people = whole.pop(HUMANS, None)
    if people is None:
        return []
    best = sorted(whole, key=lambda name: -fmean(curve.area for curve in whole[name]))[:NETWORKS]
    return [_line(HUMANS, people), *(_line(name, whole[name]) for name in best)]


def _line(population: str, curves: Sequence[Curve]) -> EarlierLine:
    at = [list(_on_grid(curve)) for curve in curves]
    return EarlierLine(
        name=population,
        kind="people" if population == HUMANS else "network",
        visual_change=GRID,
        rate=tuple(fmean(rates) for rates in zip(*at, strict=True)),
    )


def _on_grid(curve: Curve) -> Iterator[float]:
    """Straight lines between the points that are stored."""
    points = list(zip(curve.band.v, curve.band.estimate, strict=True))
    for wanted in GRID:
        before = [point for point in points if point[0] <= wanted] or points[:1]
        after = [point for point in points if point[0] >= wanted] or points[-1:]
        (low, left), (high, right) = before[-1], after[0]
        share = 0.0 if high <= low else (wanted - low) / (high - low)
        yield left + share * (right - left)
