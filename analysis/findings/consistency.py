"""Models and the same people: whose errors are more like people's, by pooled kappa on the same pictures."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from analysis.agreement.pooled import LeftOut, leave_out_clusters
from analysis.claims.agreement import ENOUGH_PICTURES
from analysis.differences.answers import SumsOfNames
from analysis.differences.family import Estimates, which_differ
from analysis.differences.ranks import places_left_open
from analysis.errors import TooFewResponses
from analysis.findings.agreement import conditions_of, included_conditions, pictures_of, places_among
from analysis.findings.fits import FitSettings
from analysis.findings.model.agreement import Agreement, ConsistencyDifference
from analysis.findings.model.comparisons import RankSet
from analysis.findings.observations import Observations
from analysis.findings.outcomes import ConditionScale


def consistency_differences(
    people: Observations, classifiers: Observations, scales: Mapping[str, ConditionScale], settings: FitSettings
) -> tuple[list[ConsistencyDifference], dict[str, RankSet]]:
    """Differences of the pooled kappas of all pairs of models, and the places that they leave open.

    Parameters
    ----------
    people, classifiers : Observations
    scales : mapping of corruption to ConditionScale
        As in `analysis.findings.agreement.agreement_entries`.
    settings : FitSettings

    Returns
    -------
    list of ConsistencyDifference
        In the order of the higher kappa, then of the lower one.
    dict of model to RankSet
        Of the models that are compared: the largest group that answered the same pictures of people.

    Notes
    -----
    The error of a difference is from the originals: kappas of both models without each original (a jackknife), so that
    pictures that are hard for all do not count as a difference. People are taken as they are. All pairs are one family
    (`analysis.differences.family`). Models that are always right or always wrong on these pictures are left out, and
    there is nothing with fewer than `ENOUGH_PICTURES` originals.
    """
    if not len(people) or not len(classifiers):
        return [], {}
    included, _ = included_conditions(people, scales)
    theirs = people.select(np.isin(conditions_of(people), included))
    if not len(theirs):
        return [], {}
    found = _of_the_same_pictures(theirs, classifiers)
    if len(found) < 2:
        return [], {}
    names = sorted(found, key=lambda name: -found[name].kappa)
    clusters, pictures = found[names[0]].clusters, found[names[0]].pictures
    count = len(clusters)
    if count < ENOUGH_PICTURES:
        return [], {}
    without = np.stack([found[name].without for name in names], axis=1)
    # Sums of squares times G / (G - 1), as everywhere, are then the variance of the jackknife.
    sums = (count - 1.0) / count * (without.mean(axis=0) - without)
    first, second = np.array(list(combinations(range(len(names)), 2))).T
    matrix = np.eye(len(names))[first] - np.eye(len(names))[second]
    values = matrix @ np.array([found[name].kappa for name in names])
    by_original = {"original": SumsOfNames(clusters.astype(np.str_), csr_array(sums))}
    family = Estimates.of(values, matrix, by_original, np.zeros(len(values)))
    decided = which_differ([family], level=settings.level, seed=settings.seed)
    reach = family.spread.reach(settings.level)
    entries = [
        ConsistencyDifference(
            pair=(names[a], names[b]),
            kappas=(found[names[a]].kappa, found[names[b]].kappa),
            difference=float(value),
            interval=(max(float(value - arm), -2.0), min(float(value + arm), 2.0)),
            p=float(p),
            differ=bool(differ),
            n=pictures,
            originals=count,
        )
        for a, b, value, arm, p, differ in zip(
            first.tolist(), second.tolist(), values, reach, decided.p[0], decided.differ[0], strict=True
        )
    ]
    places = places_left_open(names, family, level=settings.level, seed=settings.seed)
    return entries, {
        name: RankSet(best=one.best, worst=one.worst, classifiers=len(names)) for name, one in places.items()
    }


def with_ranks(rows: list[Agreement], ranks: Mapping[str, RankSet]) -> list[Agreement]:
    """The rows of agreement, with the places of models that have some."""
    return [row.model_copy(update={"ranks": ranks[row.observer]}) if row.observer in ranks else row for row in rows]


def _of_the_same_pictures(people: Observations, classifiers: Observations) -> dict[str, LeftOut]:
    """Pooled kappas of the models that answered the most frequent choice of people's pictures; of ties the larger."""
    pictures, shown_first, picture = np.unique(pictures_of(people), return_index=True, return_inverse=True)
    strata, clusters = conditions_of(people)[shown_first], people.original[shown_first]
    right, n = _counted(picture, people.correct, len(pictures))
    answered: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    for name in np.unique(classifiers.observer).tolist():
        own = classifiers.select(classifiers.observer == name)
        place, known = places_among(pictures, pictures_of(own))
        answered[name] = _counted(place[known], own.correct[known], len(pictures))
    kinds: dict[bytes, list[str]] = {}
    for name, (_, count) in answered.items():
        kinds.setdefault((count > 0).tobytes(), []).append(name)
    if not kinds:
        return {}
    chosen = max(kinds.values(), key=lambda names: (len(names), int((answered[names[0]][1] > 0).sum())))
    found = {}
    for name in chosen:
        try:
            one = leave_out_clusters(right, n, *answered[name], strata=strata, clusters=clusters)
        except TooFewResponses:
            return {}
        if one is not None:
            found[name] = one
    return found


def _counted(
    picture: NDArray[np.int64], correct: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Right answers and answers by picture."""
    right = np.bincount(picture, weights=correct, minlength=count)
    return right.astype(np.float64), np.bincount(picture, minlength=count).astype(np.float64)
