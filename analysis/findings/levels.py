"""VCR experiment 1: accuracy at the five fixed levels of ImageNet-C beside areas over continuous visual change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from pydantic import JsonValue

from analysis.findings.fits import CurveKey, StudyCurves
from analysis.findings.model.checks import FunctionLevels, LevelModel, Levels, RankChange, Ranks, Swap
from analysis.findings.model.entry import HUMANS, Property
from analysis.findings.observations import CLEAN
from analysis.findings.reversals import reversal_entries
from analysis.study.analysis_plan import LEVEL
from analysis.visual_change.coverage import NARROW_BINS, compare_sets

if TYPE_CHECKING:
    import pandas as pd


def level_entries(
    study: StudyCurves, levels: pd.DataFrame | None, predictions: pd.DataFrame | None, *, level: float = LEVEL
) -> Levels | None:
    """Rank classifiers by fixed levels and by areas, and say who changes place.

    Parameters
    ----------
    study : StudyCurves
        Its classifiers' curves; those over all their pictures where people saw only some.
    levels : pandas.DataFrame or None
        Columns of `analysis.tables.stimuli.LEVEL_PREDICTIONS`.
    predictions : pandas.DataFrame or None
        The predictions behind the curves, for the coverage and for what pictures leave open of reversed orders.
    level : float
        Of the intervals of these.

    Returns
    -------
    Levels or None
        ``functions`` that both sets have, ``models`` (``classifier``, ``fixed_accuracy``, ``area_accuracy``,
        ``area_consistency``, ``by_function``, ``ranks``; best first), ``rank_changes``, ``swaps`` (pairs of classifiers
        whose order differs), ``reversals`` (the same over all functions and on each, with uncertainty) and ``coverage``
        of both sets. None without fixed levels of a classifier that has curves.

    Notes
    -----
    VCR (Shen et al.), section 4.1, Fig. 5 and 13 to 21. The fixed accuracy is the mean over levels, then over
    functions; the area the mean over the same functions. Both in the label space of the predictions. Ranks are places
    by these numbers, as in the published table that they are compared with, and no inference: what the data say of the
    order of models is said by the sets of `analysis.differences.ranks.rank_sets`, and of a reversed order by
    `analysis.findings.reversals`.
    """
    if levels is None or levels.empty:
        return None
    rates = fixed_rates(levels)
    areas = {key: (curve.full_set or curve.fit).area for key, curve in study.curves.items() if key.population != HUMANS}
    spaces = {
        key.population: curve.fit.config.label_space for key, curve in study.curves.items() if key.population != HUMANS
    }
    fixed_spaces = dict(zip(levels["classifier"].astype(str), levels["label_space"].astype(int), strict=True))
    names = sorted(name for name in {name for name, _ in rates} & set(spaces) if spaces[name] == fixed_spaces[name])
    functions = sorted(
        function
        for function in {function for _, function in rates}
        if names and all((name, function) in rates and CurveKey(name, function, "accuracy") in areas for name in names)
    )
    if not functions:
        return None
    by_name = _with_ranks({name: _by_function(name, functions, rates, areas) for name in names})
    fixed = {name: float(np.mean([one.fixed_accuracy for one in own])) for name, own in by_name.items()}
    means: dict[Property, dict[str, float | None]] = {
        "accuracy": {name: _mean([one.area_accuracy for one in own]) for name, own in by_name.items()},
        "consistency": {name: _mean([one.area_consistency for one in own]) for name, own in by_name.items()},
    }
    places = _ranks(fixed)
    ranks = {
        subject: _ranks(known)
        for subject, values in means.items()
        if len(known := {name: value for name, value in values.items() if value is not None}) == len(values)
    }
    order = sorted(names, key=lambda name: (places[name], name))
    swaps = _swaps(order, places, ranks)
    own_swaps: dict[str | None, tuple[Swap, ...]] = {None: swaps}
    for place, function in enumerate(functions):
        own_swaps[function] = _swaps_on([by_name[name][place].ranks for name in names], names)
    return Levels(
        functions=tuple(functions),
        models=tuple(
            LevelModel(
                classifier=name,
                fixed_accuracy=fixed[name],
                area_accuracy=float(np.mean([one.area_accuracy for one in by_name[name]])),
                area_consistency=means["consistency"][name],
                by_function=by_name[name],
                ranks=Ranks(fixed=places[name], **{subject: own[name] for subject, own in ranks.items()}),
            )
            for name in order
        ),
        rank_changes=tuple(
            RankChange(classifier=name, property=subject, from_=places[name], to=own[name])
            for subject, own in ranks.items()
            for name in order
            if places[name] != own[name]
        ),
        swaps=swaps,
        reversals=()
        if predictions is None
        else reversal_entries(own_swaps, functions, names, levels, predictions, properties=len(ranks), level=level),
        coverage=_coverage(predictions, levels, functions),
    )


def _with_ranks(by_name: Mapping[str, tuple[FunctionLevels, ...]]) -> dict[str, tuple[FunctionLevels, ...]]:
    """The same with the places of every classifier on each function."""
    ranked: dict[str, list[FunctionLevels]] = {name: [] for name in by_name}
    for on_one in zip(*by_name.values(), strict=True):
        own = dict(zip(by_name, on_one, strict=True))
        fixed = _ranks({name: one.fixed_accuracy for name, one in own.items()})
        accuracy = _ranks({name: one.area_accuracy for name, one in own.items()})
        known = {name: area for name, one in own.items() if (area := one.area_consistency) is not None}
        consistency = _ranks(known) if len(known) == len(own) else {}
        for name, one in own.items():
            ranks = Ranks(fixed=fixed[name], accuracy=accuracy[name], consistency=consistency.get(name))
            ranked[name].append(one.model_copy(update={"ranks": ranks}))
    return {name: tuple(own) for name, own in ranked.items()}


def _swaps_on(ranks: Sequence[Ranks | None], names: Sequence[str]) -> tuple[Swap, ...]:
    """Pairs whose order differs on one function."""
    known = {name: one for name, one in zip(names, ranks, strict=True) if one is not None}
    places = {name: one.fixed for name, one in known.items()}
    others: dict[Property, dict[str, int]] = {"accuracy": {name: one.accuracy for name, one in known.items()}}
    consistency = {name: one.consistency for name, one in known.items() if one.consistency is not None}
    if len(consistency) == len(known):
        others["consistency"] = consistency
    return _swaps(sorted(known, key=lambda name: (places[name], name)), places, others)


def _swaps(
    order: Sequence[str], places: Mapping[str, int], ranks: Mapping[Property, Mapping[str, int]]
) -> tuple[Swap, ...]:
    return tuple(
        Swap(property=subject, ahead_at_levels=one, ahead_by_area=other)
        for subject, own in ranks.items()
        for place, one in enumerate(order)
        for other in order[place + 1 :]
        if places[one] < places[other] and own[one] > own[other]
    )


def fixed_rates(levels: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Accuracy by classifier and function: the mean over levels, so that a thin level weighs no less."""
    rows = levels[levels["corruption"] != CLEAN]
    by_level = (
        rows.assign(correct=rows["correct"].astype("boolean").astype("float64"))
        .groupby(["classifier", "corruption", "level"], sort=True)["correct"]
        .mean()
    )
    means = by_level.groupby(level=[0, 1], sort=True).mean()
    return {(str(name), str(function)): float(rate) for (name, function), rate in zip(means.index, means, strict=True)}


def _by_function(
    name: str,
    functions: list[str],
    rates: Mapping[tuple[str, str], float],
    areas: Mapping[CurveKey, float],
) -> tuple[FunctionLevels, ...]:
    return tuple(
        FunctionLevels(
            corruption=function,
            fixed_accuracy=rates[name, function],
            area_accuracy=areas[CurveKey(name, function, "accuracy")],
            area_consistency=areas.get(CurveKey(name, function, "consistency")),
        )
        for function in functions
    )


def _mean(values: list[float | None]) -> float | None:
    """Mean of all; None where one is not known."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def _ranks(values: Mapping[str, float]) -> dict[str, int]:
    """Place of each, the largest first; equal values share a place."""
    return {name: 1 + sum(other > value for other in values.values()) for name, value in values.items()}


def _coverage(
    predictions: pd.DataFrame | None, levels: pd.DataFrame, functions: list[str]
) -> dict[str, JsonValue] | None:
    """Bins of visual change with stimuli in both sets; a is continuous, b has levels."""
    if predictions is None:
        return None
    continuous = predictions.drop_duplicates("stimulus")
    fixed = levels.drop_duplicates("stimulus")
    a: dict[str, dict[int | None, dict[int, int]]] = {
        name: {None: _counted(continuous[continuous["corruption"] == name]["visual_change"])} for name in functions
    }
    b: dict[str, dict[int | None, dict[int, int]]] = {}
    for name in functions:
        own = fixed[fixed["corruption"] == name]
        level = own["level"].astype(int)
        b[name] = {one: _counted(own[level == one]["visual_change"]) for one in sorted(set(level.tolist()))}
    return compare_sets(a, b).to_dict()


def _counted(visual_change: ArrayLike) -> dict[int, int]:
    place = np.floor(np.asarray(visual_change, dtype=np.float64) * NARROW_BINS).astype(np.int64)
    numbers, counts = np.unique(place, return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))
