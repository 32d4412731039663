"""Curves of people and networks, from studies that are over, for people of other studies to see next to their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.participation.own_curves import Earlier, EarlierLine
from humanexp.studies.models import Action, Origin, Population, Study, StudyState
from humanexp.studies.permissions import studies_with

if TYPE_CHECKING:
    from analysis.findings.model.curves import Curve

#: Networks that are shown: those with the largest areas. More lines than these cannot be told apart.
NETWORKS = 3
#: The curves are kept at these amounts of change.
GRID = tuple(number / 20 for number in range(21))


class FinishedStudies:
    """The latest analysis as planned of a study that collects no answers any more."""

    def choices(self, user: User | AnonymousUser, study: Study) -> list[tuple[str, str]]:
        return [(one.slug, one.title) for one in _over(user, study)]

    def read(self, user: User | AnonymousUser | None, study: Study, name: str) -> Earlier:
        refused = {"compared_with": "a study that is over, of another family, or none"}
        found = _over(user, study).filter(slug=name).first()
        if found is None:
            raise InvalidRequest(
                f"The curves of {name!r} cannot be shown to volunteers of this study: choose a study that you may "
                "export, that is over, and that belongs to another family.",
                fields=refused,
            )
        lines = _mean_curves(found, study)
        if not lines:
            raise InvalidRequest(
                f"{found.title} has no curve of people for every corruption function of this study: analyse it first, "
                "or choose another one.",
                fields=refused,
            )
        return Earlier(title=found.title, lines=tuple(lines))


def _over(user: User | AnonymousUser | None, study: Study) -> QuerySet[Study]:
    """Never a study of the same family: what people see must not come from answers that still change.

    The public gets to see its curves, which takes the right to take its answers away.
    """
    seen = Study.objects.all() if user is None else studies_with(user, Action.EXPORT)
    is_over = Q(state=StudyState.STOPPED, population=Population.PEOPLE) | Q(origin=Origin.IMPORTED)
    return seen.filter(is_over, analysis_runs__selection={}).exclude(family=study.family).distinct().order_by("title")


def _mean_curves(found: Study, study: Study) -> list[EarlierLine]:
    """Means over the corruption functions of `study`; none where people's curve of one of them is missing."""
    # The findings: choosing a study needs none of them.
    from analysis.findings.model.entry import HUMANS
    from humanexp.results import selectors

    run, wanted = selectors.latest_run(found), study.stimulus_set
    if run is None or wanted is None or not wanted.corruptions:
        return []
    by_population: dict[str, list[Curve]] = {}
    if found.space.identity != study.space.identity:
        return []
    for curve in selectors.findings(run).curves:
        is_alike = curve.property == "accuracy" and curve.abscissa == "visual_change"
        is_alike = is_alike and curve.chance == study.chance
        if is_alike and curve.corruption in wanted.corruptions:
            by_population.setdefault(curve.population, []).append(curve)
    whole = {name: own for name, own in by_population.items() if len(own) == len(wanted.corruptions)}
    people = whole.pop(HUMANS, None)
    if people is None:
        return []
    best = sorted(whole, key=lambda name: -fmean(curve.area for curve in whole[name]))[:NETWORKS]
    return [_line(HUMANS, "people", people), *(_line(name, "network", whole[name]) for name in best)]


def _line(population: str, kind: Literal["people", "network"], curves: Sequence[Curve]) -> EarlierLine:
    at = [list(_on_grid(curve)) for curve in curves]
    return EarlierLine(
        name=population,
        kind=kind,
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
