"""Means over kinds of networks and over families of functions, beside people, and which of these means differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from analysis.arrays import FloatArray
from analysis.differences.answers import AnswersToOne, added, side_by_side
from analysis.differences.beside import Pair, compared_pairs
from analysis.differences.family import DRAWS, Estimates, which_differ
from analysis.study.analysis_plan import LEVEL

Grouping = Literal["kinds", "families"]
Interval = tuple[float, float]


@dataclass(frozen=True)
class GroupMean:
    """Mean over the members of a group: accuracy of these networks minus that of people.

    Parameters
    ----------
    grouping : {"kinds", "families"}
    group : str
    networks, corruptions : tuple of str
        Over all pairs of which the mean is taken, each counting once.
    difference : float
        In [-1, 1].
    interval : (float, float)
        For itself, over new people and new originals; the networks and the functions are these.
    """

    grouping: Grouping
    group: str
    networks: tuple[str, ...]
    corruptions: tuple[str, ...]
    difference: float
    interval: Interval


@dataclass(frozen=True)
class GroupContrast:
    """The mean of one group minus that of another of the same grouping.

    Parameters
    ----------
    grouping : {"kinds", "families"}
    pair : (str, str)
        The group with the higher mean first.
    difference : float
        At least 0.
    interval : (float, float)
        For itself.
    p : float
        Corrected over all pairs of both groupings.
    differ : bool
        Whether the two surely differ.
    """

    grouping: Grouping
    pair: tuple[str, str]
    difference: float
    interval: Interval
    p: float
    differ: bool


@dataclass(frozen=True)
class Groups:
    """All means, and all pairs of them within a grouping."""

    means: tuple[GroupMean, ...] = ()
    contrasts: tuple[GroupContrast, ...] = ()


def group_means(
    people: Mapping[str, AnswersToOne],
    models: Mapping[str, Mapping[str, AnswersToOne]],
    *,
    kinds: Mapping[str, str],
    families: Mapping[str, str],
    conditions: frozenset[str] = frozenset(),
    level: float = LEVEL,
    seed: int = 0,
    draws: int = DRAWS,
) -> Groups:
    """Average networks beside people over kinds of networks, and over families of functions.

    Parameters
    ----------
    people : mapping of corruption to AnswersToOne
    models : mapping of model to mapping of corruption to AnswersToOne
    kinds : mapping of model to str
        Kind of each network that has one; others enter the families alone.
    families : mapping of corruption to str
        Family of each function that has one; others enter the kinds alone.
    conditions : frozenset of str
        As in `analysis.differences.beside.beside_people`.
    level : float
        Of the intervals; and 1 minus the chance that any two groups are falsely said to differ.
    seed, draws : int
        Of the joint draws, and how many.

    Returns
    -------
    Groups
        Groups in the order in which their first members come. A grouping with fewer than two groups is left out.

    Notes
    -----
    Only functions count on which all networks were compared with people: a mean over other functions would be another
    quantity. The difference of each network on each function is that of `beside_people`, the mean over everything
    measured; group means are linear in these, so their errors are clustered over people and originals together
    (Cameron, Gelbach and Miller 2011), with t quantiles by Satterthwaite. All pairs of kinds and all pairs of families
    are one family of hypotheses of their own (step-down of `which_differ`). In a difference of two kinds people cancel.
    Inference is of these networks and these functions: nothing is said of a population of networks. VCR (Shen et al.,
    section 4.2) says such things of its networks without a test ("the three ViT models", "blur corruptions").
    """
    pairs = _common(compared_pairs(people, models, conditions))
    if not pairs:
        return Groups()
    grouped: dict[Grouping, dict[str, list[int]]] = {
        "kinds": _members([kinds.get(pair.model, "") for pair in pairs]),
        "families": _members([families.get(pair.corruption, "") for pair in pairs]),
    }
    rows = [
        (grouping, group, np.bincount(own, minlength=len(pairs)) / len(own))
        for grouping, groups in grouped.items()
        if len(groups) > 1
        for group, own in groups.items()
    ]
    if not rows:
        return Groups()
    least = np.array([_least(pair, people, models) for pair in pairs])
    means = _estimates(pairs, np.array([row for *_, row in rows]), least)
    reach = means.spread.reach(level)
    found = tuple(
        _mean(grouping, group, [pairs[place] for place in grouped[grouping][group]], value, near)
        for (grouping, group, _), value, near in zip(rows, means.values.tolist(), reach.tolist(), strict=True)
    )
    return Groups(found, _contrasts(pairs, rows, least, level=level, seed=seed, draws=draws))


def _common(pairs: Sequence[Pair]) -> list[Pair]:
    """Pairs of functions on which all models are."""
    models = {pair.model for pair in pairs}
    counts = {corruption: sum(pair.corruption == corruption for pair in pairs) for corruption in _functions(pairs)}
    return [pair for pair in pairs if counts[pair.corruption] == len(models)]


def _functions(pairs: Sequence[Pair]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pair.corruption for pair in pairs))


def _members(groups: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        if group:
            found.setdefault(group, []).append(place)
    return found


def _mean(grouping: Grouping, group: str, pairs: Sequence[Pair], value: float, reach: float) -> GroupMean:
    return GroupMean(
        grouping,
        group,
        tuple(dict.fromkeys(pair.model for pair in pairs)),
        _functions(pairs),
        value,
        (max(value - reach, -1.0), min(value + reach, 1.0)),
    )


def _contrasts(
    pairs: Sequence[Pair],
    rows: Sequence[tuple[Grouping, str, FloatArray]],
    least: FloatArray,
    *,
    level: float,
    seed: int,
    draws: int,
) -> tuple[GroupContrast, ...]:
    """All pairs of groups within a grouping, as one family."""
    asked = [(one, other) for one, other in combinations(rows, 2) if one[0] == other[0]]
    estimates = _estimates(pairs, np.array([one[2] - other[2] for one, other in asked]), least)
    decided = which_differ([estimates], level=level, seed=seed, n_draws=draws)
    (differ,), (p,) = decided.differ, decided.p
    found = []
    for (one, other), value, near, surely, chance in zip(
        asked, estimates.values.tolist(), estimates.spread.reach(level).tolist(), differ, p, strict=True
    ):
        pair = (one[1], other[1]) if value >= 0.0 else (other[1], one[1])
        size = abs(value)
        found.append(
            GroupContrast(
                one[0], pair, size, (max(size - near, -1.0), min(size + near, 1.0)), float(chance), bool(surely)
            )
        )
    return tuple(found)


def _estimates(pairs: Sequence[Pair], weights: FloatArray, least: FloatArray) -> Estimates:
    """Weighted sums of the pairs' differences over everything measured: a column a pair, a row an estimate."""
    sums = {}
    for unit in ("original", "person"):
        parts = [(pair.differences.sums.get(unit), pair.differences.matrix[0]) for pair in pairs]
        known = [added([(own, row)]) for own, row in parts if own is not None]
        if known:
            sums[unit] = side_by_side(known)
    values = np.array([pair.differences.values[0] for pair in pairs])
    return Estimates.of(weights @ values, weights, sums, _singles(pairs, weights), weights**2 @ least)


def _singles(pairs: Sequence[Pair], weights: FloatArray) -> FloatArray:
    """Sum of squares of what single answers of people contribute, shape (q,).

    An answer counts in the pairs of all models on its function. Where these were compared in different cells it is left
    out, which takes nothing off the variance.
    """
    total = np.zeros(len(weights))
    for corruption in _functions(pairs):
        places = [place for place, pair in enumerate(pairs) if pair.corruption == corruption]
        own = [pairs[place] for place in places]
        if len({pair.contrasts.edges.tobytes() for pair in own}) > 1:
            continue
        rows = weights[:, places] @ np.array([pair.contrasts.matrix[0] for pair in own])
        total += rows**2 @ own[0].human.singles
    return total


def _least(pair: Pair, people: Mapping[str, AnswersToOne], models: Mapping[str, Mapping[str, AnswersToOne]]) -> float:
    """Least variance of a pair's difference, where all answers are alike."""
    sides = (people[pair.corruption], models[pair.model][pair.corruption])
    row = pair.contrasts.matrix[:1]
    return float(sum(pair.contrasts.cells_of(side).least_variance(row)[0] for side in sides))
