"""Observers on average over experiments: the table of the model-vs-human benchmark, with intervals and ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import sqrt
from typing import get_args

import numpy as np
from scipy.sparse import csr_array

from analysis.arrays import FloatArray
from analysis.clusters import clustered
from analysis.differences.answers import SumsOfNames
from analysis.differences.family import Estimates
from analysis.differences.ranks import places_left_open
from analysis.findings.agreement import shape_bias_entries
from analysis.findings.benchmark_parts import OF_PAIRS, Experiment, Measure, Part
from analysis.findings.model.agreement import AverageObserver, PooledMean
from analysis.findings.model.comparisons import RankSet
from analysis.findings.model.entry import HUMANS
from analysis.findings.observations import Observations, joined
from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace
from analysis.study.analysis_plan import LEVEL

_LOWEST: Mapping[Measure, float] = {"error_consistency": -1.0, "accuracy_lead": -1.0}
#: An observer's measures, an experiment after the other.
Found = dict[str, dict[Measure, Part]]


def benchmark_table(
    answers: Mapping[str, tuple[Observations, Observations]],
    *,
    level: float = LEVEL,
    seed: int = 0,
    space: LabelSpace | None = None,
    left_out: Mapping[str, Collection[str]] | None = None,
) -> tuple[AverageObserver, ...]:
    """Set every observer next to the people of the same experiments.

    Parameters
    ----------
    answers : mapping of experiment to (people, classifiers)
        People of one name in two experiments are two people; models of one name are one model.
    level : float
        Level of the intervals.
    seed : int
        Of the joint draws behind the ranks.
    space : LabelSpace, optional
        Labels by which names of pictures are read as cue conflicts; by default the product's.
    left_out : mapping of experiment to collection of str, optional
        Conditions that do not count, of experiments whose authors say so.

    Returns
    -------
    tuple of Standing
        People among themselves first, then, in one experiment, each person, then models by their mean accuracy.

    Notes
    -----
    Geirhos et al. (2021): an experiment's numbers are means over its conditions, then over people; those of the table
    over experiments. Controls, and conditions in which people are right at most 20 % of the time, do not count, unless
    the authors say which do not.
    Intervals are those of t, from what every person and every original adds to the error (`analysis.clusters`); they
    are for new people and new pictures, in these experiments. Ranks are those of `analysis.differences.ranks`.
    """
    stated = left_out or {}
    experiments = [Experiment(name, *both, stated.get(name)) for name, both in answers.items() if len(both[0])]
    experiments = [one for one in experiments if one.included]
    bias = _shape_bias(answers, level, space or default_labels())
    found: dict[str, Found] = {HUMANS: {one.name: one.parts_of_people() for one in experiments}}
    persons = experiments[0].people if len(experiments) == 1 else []
    for name in persons:
        found[name] = {experiments[0].name: experiments[0].parts_of(name)}
    models = sorted({name for one in experiments for name in one.classifiers})
    for name in models:
        own = {one.name: one.parts_of(name) for one in experiments if name in one.classifiers}
        found[name] = {experiment: parts for experiment, parts in own.items() if parts}
    ranks, consistency_ranks, mean_ranks = _ranks({name: found[name] for name in models}, level, seed)
    standings = []
    for name, own in found.items():
        kind = "humans" if name == HUMANS else "human" if name in persons else "classifier"
        standing = AverageObserver(
            observer=name,
            kind=kind,  # type: ignore[arg-type]
            experiments=tuple(own),
            **{measure: pooled_mean(own, measure, level) for measure in get_args(Measure)},
            corrected_accuracy_difference=corrected_difference(own, level),
            shape_bias=bias.get(name),
            ranks=ranks.get(name),
            mean_rank=mean_ranks.get(name),
            consistency_ranks=consistency_ranks.get(name),
        )
        standings.append(standing)
    return tuple(sorted(standings, key=_place))


def published_benchmark(
    study: str,
    people: Observations,
    classifiers: Observations,
    *,
    level: float,
    seed: int,
    space: LabelSpace | None = None,
) -> tuple[AverageObserver, ...]:
    """The table of one study; empty unless it has published conditions."""
    if not people.imported.any():
        return ()
    both = people.select(people.imported), classifiers.select(classifiers.imported)
    return benchmark_table({study: both}, level=level, seed=seed, space=space)


def _place(one: AverageObserver) -> tuple[int, float, str]:
    accuracy = one.ood_accuracy.value if one.ood_accuracy and one.kind == "classifier" else 0.0
    return ("humans", "human", "classifier").index(one.kind), -accuracy, one.observer


def _mean(parts: Mapping[str, Part]) -> Part:
    """The mean over experiments, whose people and originals are all different."""
    share = 1.0 / len(parts)
    people = sum(len(one.people) for one in parts.values())
    originals: dict[str, float] = {}
    persons: dict[str, float] = {}
    for experiment, one in parts.items():
        originals |= {f"{experiment}/{name}": share * value for name, value in one.originals.items()}
        count = len(one.people)
        # `clustered` corrects for few people in all; those of an experiment are fewer.
        few = sqrt(count / (count - 1) * (people - 1) / people) if count > 1 else 1.0
        persons |= {f"{experiment}/{name}": share * few * value for name, value in one.people.items()}
    singles = share**2 * sum(one.singles for one in parts.values())
    noise = share * sum(one.noise for one in parts.values())
    return Part(share * sum(one.value for one in parts.values()), originals, persons, singles, noise)


def _of_measure(own: Found, measure: Measure) -> dict[str, Part]:
    return {experiment: found[measure] for experiment, found in own.items() if measure in found}


def pooled_mean(own: Found, measure: Measure, level: float) -> PooledMean | None:
    """One measure over the experiments that have it, with its interval."""
    parts = _of_measure(own, measure)
    if not parts:
        return None
    mean = _mean(parts)
    reach = _reach(mean, level)
    # The error of a squared difference is not normal where the accuracies are close: `corrected_difference`.
    if reach == 0.0 or measure == "accuracy_difference":
        return PooledMean(value=mean.value)
    lowest = _LOWEST.get(measure, 0.0)
    return PooledMean(value=mean.value, interval=(max(lowest, mean.value - reach), min(1.0, mean.value + reach)))


def corrected_difference(own: Found, level: float) -> PooledMean | None:
    """The squared difference of accuracies without what the choice of pictures adds to it, with its interval.

    Notes
    -----
    The square of a difference that is measured on n pictures is on average larger than the square of the true
    difference, by the variance of the measured one. That variance is estimated without bias within every condition and
    pair of observers, clustered by original, and its mean B is taken off: the result estimates the mean over new people
    of ``(p_person - p_observer)^2`` without bias. It is shown as 0 where it would be negative.

    The error of the printed mean D grows with its expectation E = (true mean) + B: for one normal difference of
    variance s^2 the variance of its square is ``4 s^2 E - 2 s^4``, at most ``4 s^2 E``. So the variance V that is
    estimated from people and originals at D is taken as ``V E / D`` at E, and the interval holds all E with
    ``(D - E)^2 <= t^2 V E / D``, less B. Wilson's (1927) interval of a share is made in the same way. A plain t
    interval is too short at the top where accuracies are close.
    """
    parts = _of_measure(own, "accuracy_difference")
    if not parts:
        return None
    mean = _mean(parts)
    if not np.isfinite(mean.noise):
        return None
    value = max(0.0, mean.value - mean.noise)
    reach = _reach(mean, level)
    if reach == 0.0:
        return PooledMean(value=value)
    half = reach**2 / (2.0 * mean.value)
    bounds = (mean.value + half + sign * sqrt(reach**2 + half**2) - mean.noise for sign in (-1.0, 1.0))
    lower, upper = (min(1.0, max(0.0, one)) for one in bounds)
    return PooledMean(value=value, interval=(lower, upper))


def _reach(mean: Part, level: float) -> float:
    """Half the width of the t interval from people and originals; 0 where neither says how far a mean may be off."""
    sums = [_column(one) for one in (mean.people, mean.originals) if len(one) > 1]
    if not sums:
        return 0.0
    return float(clustered(sums, np.array([mean.singles if len(sums) == 2 else 0.0])).reach(level)[0])


def _column(parts: Mapping[str, float]) -> FloatArray:
    return np.fromiter(parts.values(), dtype=np.float64, count=len(parts))[:, None]


def _ranks(
    models: Mapping[str, Found], level: float, seed: int
) -> tuple[dict[str, RankSet], dict[str, RankSet], dict[str, float]]:
    """Places by accuracy and by kappa, and mean places by likeness to people, of models of the same experiments."""
    kinds = {
        name: tuple(experiment for experiment, parts in own.items() if "ood_accuracy" in parts)
        for name, own in models.items()
    }
    counts = Counter(kind for kind in kinds.values() if kind)
    if not counts:
        return {}, {}, {}
    chosen = max(counts, key=lambda kind: (counts[kind], len(kind)))
    ranked = {name: models[name] for name, kind in kinds.items() if kind == chosen}
    if len(ranked) < 2:
        return {}, {}, {}
    return (
        _places(ranked, "ood_accuracy", level, seed),
        _places(ranked, "error_consistency", level, seed),
        _mean_ranks(ranked),
    )


def _places(models: Mapping[str, Found], measure: Measure, level: float, seed: int) -> dict[str, RankSet]:
    """The places that people and pictures leave open by one measure; empty where a model lacks it."""
    parts = [_of_measure(own, measure) for own in models.values()]
    if not all(parts):
        return {}
    means = [_mean(own) for own in parts]
    first, second = np.array(list(combinations(range(len(means)), 2))).T
    matrix = np.eye(len(means))[first] - np.eye(len(means))[second]
    values = matrix @ np.array([one.value for one in means])
    sums, singles = {"original": _columns([one.originals for one in means])}, np.zeros(len(values))
    if all(one.people for one in means):
        sums["person"] = _columns([one.people for one in means])
        each = _columns([_of_each(own) for own in parts]).sums
        # What a picture adds through one person's answers is in both sums.
        singles = np.einsum("qi,ij,qj->q", matrix, (each.T @ each).toarray(), matrix)
    family = Estimates.of(values, matrix, sums, singles)
    found = places_left_open(list(models), family, level=level, seed=seed)
    return {name: RankSet(best=one.best, worst=one.worst, classifiers=len(means)) for name, one in found.items()}


def _columns(parts: Sequence[Mapping[str, float]]) -> SumsOfNames:
    """Contributions by name, a column a model."""
    names = np.unique([name for one in parts for name in one])
    sums = np.zeros((len(names), len(parts)))
    for column, one in enumerate(parts):
        sums[np.searchsorted(names, list(one)), column] = list(one.values())
    return SumsOfNames(names, csr_array(sums))


def _of_each(parts: Mapping[str, Part]) -> dict[str, float]:
    """What the pictures of every original add through every person's answers to the mean over experiments."""
    return {
        f"{experiment}/{person}/{name}": value / len(parts) / len(one.each)
        for experiment, one in parts.items()
        for person, own in one.each.items()
        for name, value in own.items()
    }


def _mean_ranks(models: Mapping[str, Found]) -> dict[str, float]:
    """The published rank: a place by each measure of likeness (equal ones share theirs), and their mean."""
    from scipy.stats import rankdata

    columns = []
    for measure in OF_PAIRS:
        values = []
        for own in models.values():
            parts = _of_measure(own, measure)
            if not parts:
                return {}
            values.append(_mean(parts).value)
        better = np.array(values) if measure == "accuracy_difference" else -np.array(values)
        columns.append(rankdata(better))
    means = np.mean(columns, axis=0)
    return dict(zip(models, means.tolist(), strict=True))


def _shape_bias(
    answers: Mapping[str, tuple[Observations, Observations]], level: float, space: LabelSpace
) -> dict[str, PooledMean]:
    """Over all experiments that show cue conflicts."""
    people = [
        replace(rows, observer=np.array([f"{name}/{one}" for one in rows.observer.tolist()], dtype=np.str_))
        if len(answers) > 1
        else rows
        for name, (rows, _) in answers.items()
    ]
    networks = joined([networks for _, networks in answers.values()])
    entries = shape_bias_entries(joined(people), networks, space, level=level)
    return {one.observer: PooledMean(value=one.bias, interval=one.interval) for one in entries if one.bias is not None}
