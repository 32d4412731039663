"""Ranks of models as sets: which places the data leave open to each, for all models at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from analysis.arrays import FloatArray
from analysis.differences.answers import AnswersToOne, CellMeans, SumsOfNames
from analysis.differences.family import DRAWS, Estimates, null_draws, stepdown
from analysis.differences.windows import Contrasts, contrasts_of
from analysis.study.analysis_plan import LEVEL


class RankSet(NamedTuple):
    """Places that the data leave open to a model; 1 is the highest mean accuracy."""

    best: int
    worst: int


def rank_sets(
    people: Mapping[str, AnswersToOne],
    models: Mapping[str, Mapping[str, AnswersToOne]],
    *,
    conditions: frozenset[str] = frozenset(),
    level: float = LEVEL,
    seed: int = 0,
    draws: int = DRAWS,
) -> dict[str, RankSet]:
    """Rank models by their mean accuracy over corruptions, as far as the data order them.

    Parameters
    ----------
    people : mapping of corruption to AnswersToOne
        They decide over which part of the axis the mean is taken, as in `beside_people`.
    models : mapping of model to mapping of corruption to AnswersToOne
    conditions : frozenset of str
        As in `beside_people`.
    level : float
        Chance that all sets hold the true ranks together. Models with equal means share all ranks of their group, and
        each set holds all of them.
    seed, draws : int
        Of the joint draws, and how many.

    Returns
    -------
    dict of model to RankSet
        Of the largest group of models that were measured on the same cells of the same corruptions; the others have no
        rank among them. Empty where no two can be compared.

    Notes
    -----
    Mogstad, Romano, Shaikh and Wilhelm (2024), Rev. Econ. Stud. 91, 476, section 3: a model's best rank is 1 + the
    number of models surely above it, its worst the number of models less those surely below it, where "surely" is from
    simultaneous inference on all pairwise differences. Here it is their step-down over the one-sided hypotheses of
    both directions, so that no direction is claimed falsely either. The quantity is that of `beside_people` (people
    cancel in the differences), the error of which comes from originals, with t quantiles of few of them.
    """
    alike = _measured_alike(people, models, conditions)
    if len(alike) < 2:
        return {}
    return places_left_open(list(alike), _pairwise(list(alike.values())), level=level, seed=seed, draws=draws)


def places_left_open(
    names: Sequence[str], family: Estimates, *, level: float = LEVEL, seed: int = 0, draws: int = DRAWS
) -> dict[str, RankSet]:
    """Places that the differences of all pairs leave open, by the rule of `rank_sets`.

    Parameters
    ----------
    names : sequence of str
        At least two models.
    family : Estimates
        Differences of all pairs, in the order of `itertools.combinations`; the higher value has the better place.
    level, seed, draws
        As in `rank_sets`.
    """
    (moved,) = null_draws([family], seed=seed, n_draws=draws)
    scores = np.copysign(family.normal_scores, family.values)
    p, _ = stepdown(np.concatenate([scores, -scores]), np.concatenate([moved, -moved], axis=1), 1.0 - level)
    surely = np.zeros((len(names), len(names)), dtype=np.bool_)
    first, second = np.array(list(combinations(range(len(names)), 2))).T
    surely[first, second], surely[second, first] = np.split(p < 1.0 - level, 2)
    for _ in names:
        surely |= surely @ surely  # what follows from what is sure
    best, worst = 1 + surely.sum(axis=0), len(names) - surely.sum(axis=1)
    return {name: RankSet(int(low), int(high)) for name, low, high in zip(names, best, worst, strict=True)}


class _Measured(NamedTuple):
    """A model on one corruption."""

    cells: CellMeans
    row: FloatArray


def _measured_alike(
    people: Mapping[str, AnswersToOne], models: Mapping[str, Mapping[str, AnswersToOne]], conditions: frozenset[str]
) -> dict[str, list[_Measured]]:
    """The models of the most frequent cells; of equally frequent ones, those of most corruptions."""
    found: dict[str, dict[str, Contrasts]] = {}
    for model, answered in models.items():
        compared = {
            corruption: contrasts_of(theirs, answered[corruption], has_conditions=corruption in conditions)
            for corruption, theirs in people.items()
            if corruption in answered
        }
        found[model] = {corruption: contrasts for corruption, contrasts in compared.items() if contrasts is not None}
    kinds = {
        model: tuple((corruption, one.edges.tobytes(), one.matrix[0].tobytes()) for corruption, one in own.items())
        for model, own in found.items()
        if own
    }
    if not kinds:
        return {}
    counts = Counter(kinds.values())
    chosen = max(counts, key=lambda kind: (counts[kind], len(kind)))
    return {
        model: [_Measured(one.cells_of(models[model][corruption]), one.matrix[0]) for corruption, one in own.items()]
        for model, own in found.items()
        if kinds.get(model) == chosen
    }


def _pairwise(models: Sequence[Sequence[_Measured]]) -> Estimates:
    """Differences of all pairs of mean accuracies, in the order of `itertools.combinations`."""
    originals = [cells.answers.originals.names for own in models for cells, _ in own]
    names = np.unique(np.concatenate(originals))
    sums = np.zeros((len(names), len(models)))
    values, least = np.zeros(len(models)), np.zeros(len(models))
    for number, own in enumerate(models):
        share = 1.0 / len(own)
        for cells, row in own:
            # names of an original are there once on a corruption
            sums[np.searchsorted(names, cells.answers.originals.names), number] += share * cells.without_each_original(
                row
            )
            values[number] += share * float(row @ np.nan_to_num(cells.means))
            least[number] += share**2 * float(cells.least_variance(row[None])[0])
    first, second = np.array(list(combinations(range(len(models)), 2))).T
    matrix = np.eye(len(models))[first] - np.eye(len(models))[second]
    by_original = {"original": SumsOfNames(names, csr_array(sums))}
    return Estimates.of(matrix @ values, matrix, by_original, np.zeros(len(matrix)), np.abs(matrix) @ least)
