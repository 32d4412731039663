"""How each observer compares with people, over all conditions: the numbers of the model-vs-human benchmark."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.agreement import PooledConsistency, pooled_consistency
from analysis.claims.agreement import ENOUGH_PICTURES
from analysis.errors import TooFewResponses
from analysis.findings.abscissa import ConditionScale, condition_number
from analysis.findings.fits import FitSettings
from analysis.findings.model import HUMANS, Agreement, ErrorConsistency, Pooled
from analysis.findings.observations import CLEAN, Observations, joined

#: Conditions in which people are right no more often than this say nothing about observers (model-vs-human).
LOST_FOR_PEOPLE = 0.20
#: Conditions under which the published experiments show unchanged pictures, beside those at the end of an axis.
CONTROLS = frozenset({"cr", "true", "inf", "1-10-10", "1-3-10", "1-0-10"})
#: Strata of visual change within a corruption.
STRATA = 10


def agreement_entries(
    people: Observations,
    classifiers: Observations,
    pairs: list[ErrorConsistency],
    scales: Mapping[str, ConditionScale],
    settings: FitSettings,
) -> tuple[list[Agreement], list[str]]:
    """One row for people among themselves, and one for every classifier beside people.

    Parameters
    ----------
    people, classifiers : Observations
    pairs : list of ErrorConsistency
        Entries of `error_consistency_entries`.
    scales : mapping of corruption to ConditionScale
        Axes of published conditions: the one at 0 is the control.
    settings : FitSettings

    Returns
    -------
    list of Agreement
        ``observer``, ``kind``, ``ood_accuracy``, ``accuracy_difference``, ``observed_consistency``,
        ``error_consistency`` (means over conditions, then over pairs; None where no pair of observers has
        `ENOUGH_PICTURES` pictures in common in a condition), ``pairs``, ``pooled`` (the form for sparse overlap),
        ``interval`` and ``n`` of that, ``conditions``.
    list of str
        Notes: which conditions are left out.

    Notes
    -----
    Geirhos et al. (2021): controls, and conditions in which people's mean accuracy is at most 0.2, are left out; the
    accuracy difference is squared. For stimuli with a visual change a condition is a tenth of it within a corruption.
    """
    if not len(people):
        return [], []
    included, notes = included_conditions(people, scales)
    if not included:
        return [], notes
    theirs = people.select(np.isin(conditions_of(people), included))
    rows = [_row(HUMANS, "humans", theirs, theirs, included, pairs, settings)]
    networks = classifiers.select(np.isin(conditions_of(classifiers), included))
    for name in np.unique(networks.observer).tolist():
        own = networks.select(networks.observer == name)
        rows.append(_row(name, "classifier", theirs, own, included, pairs, settings))
    return rows, notes


def conditions_of(rows: Observations) -> NDArray[np.str_]:
    """Published condition, or corruption and tenth of visual change; ``none`` for clean pictures."""
    tenth = np.minimum(np.nan_to_num(rows.visual_change, nan=0.0) * STRATA, STRATA - 1).astype(np.int64)
    corruptions, code = np.unique(rows.corruption, return_inverse=True)
    # Named once a stratum, not once an answer.
    labels = np.array(
        [CLEAN if one == CLEAN else f"{one} 0.{k}" for one in corruptions.tolist() for k in range(STRATA)]
    )
    measured = labels[code * STRATA + tenth] if len(rows) else rows.condition
    return np.asarray(np.where(rows.imported, rows.condition, measured), dtype=np.str_)


def pictures_of(rows: Observations) -> NDArray[np.str_]:
    """What two observers have in common: the stimulus, or in published trials the original within its condition."""
    named = np.char.add(np.char.add(rows.condition, "/"), rows.original)
    return np.asarray(np.where(rows.imported, named, rows.stimulus), dtype=np.str_)


def pooled_within(people: Observations, settings: FitSettings) -> PooledConsistency | None:
    """Return the consistency of two people's answers to one picture; None where no picture was answered twice."""
    return _pooled(people, None, settings)


def included_conditions(people: Observations, scales: Mapping[str, ConditionScale]) -> tuple[list[str], list[str]]:
    """Conditions that count, and what is said of the others.

    Parameters
    ----------
    people : Observations
    scales : mapping of corruption to ConditionScale
        Axes of published conditions: the one at 0 is the control.
    """
    names = conditions_of(people)
    controls = _controls(people, scales)
    # At 0.2 itself the published list leaves a condition out; means of shares meet it only up to rounding.
    means = {name: mean for name, mean in _means(people, names).items() if name not in controls}
    included = [name for name, mean in means.items() if mean > LOST_FOR_PEOPLE + 1e-9]
    lost = [name for name in means if name not in included]
    notes = []
    if lost:
        notes.append(f"Agreement with people leaves out {', '.join(lost)}: people are right in at most 20 %.")
    return included, notes


def _controls(people: Observations, scales: Mapping[str, ConditionScale]) -> set[str]:
    """Conditions with unchanged pictures; of an experiment's conditions at most one, and never the only one."""
    controls = {CLEAN}
    for corruption in np.unique(people.corruption[people.imported]).tolist():
        conditions = set(people.of(corruption).condition.tolist())
        known, scale = conditions & CONTROLS, scales.get(corruption)
        if len(conditions) == 1:
            continue
        if known:
            controls |= known
        elif scale is not None:
            controls |= {one for one in conditions if float(scale.place(np.array([one]))[0]) == 0.0}
        else:
            controls |= {one for one in conditions if condition_number(one) == 0.0}
    return controls


def _row(
    name: str,
    kind: Literal["humans", "classifier"],
    people: Observations,
    own: Observations,
    included: list[str],
    pairs: list[ErrorConsistency],
    settings: FitSettings,
) -> Agreement:
    """Pooled over all pictures, and as published: means over conditions, then over pairs that saw the same pictures."""
    found = _pooled(people, None if kind == "humans" else own, settings)
    chosen = _chosen_pairs(name, kind, people, pairs, included)

    def mean(number: Callable[[ErrorConsistency], float]) -> float | None:
        per_pair = [np.mean([number(entry) for entry in entries]) for entries in chosen]
        return float(np.mean(per_pair)) if per_pair else None

    return Agreement(
        observer=name,
        kind=kind,
        ood_accuracy=_mean_accuracy(own, included),
        accuracy_difference=mean(_squared_difference),
        observed_consistency=mean(lambda entry: entry.observed),
        # As the papers: 1 where both observers are always right.
        error_consistency=mean(lambda entry: 1.0 if entry.kappa is None else entry.kappa),
        pairs=len(chosen),
        pooled=None
        if found is None
        else Pooled(
            kappa=found.kappa,
            observed=found.observed,
            expected=found.expected,
            pictures=found.pictures,
            accuracies=found.accuracies,
            is_stratified=found.is_stratified,
            left_out=found.left_out,
        ),
        interval=None if found is None else found.interval,
        n=0 if found is None else found.pictures,
        conditions=tuple(included),
    )


def _mean_accuracy(own: Observations, included: list[str]) -> float | None:
    """Mean over conditions of the mean over observers."""
    means = _means(own, conditions_of(own))
    known = [means[condition] for condition in included if condition in means]
    return float(np.mean(known)) if known else None


def _means(rows: Observations, conditions: NDArray[np.str_]) -> dict[str, float]:
    """Mean over observers of each observer's accuracy, by condition."""
    names, condition = np.unique(conditions, return_inverse=True)
    observers, observer = np.unique(rows.observer, return_inverse=True)
    shape = (len(names), len(observers))
    cell = condition * shape[1] + observer
    n = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    right = np.bincount(cell, weights=rows.correct, minlength=shape[0] * shape[1]).reshape(shape)
    rates = np.divide(right, n, out=np.zeros(shape), where=n > 0)
    return {str(name): float(rates[k].sum() / (n[k] > 0).sum()) for k, name in enumerate(names)}


def _chosen_pairs(
    name: str, kind: str, people: Observations, pairs: list[ErrorConsistency], included: list[str]
) -> list[list[ErrorConsistency]]:
    """Entries of each pair of observers that count for a row."""
    names = set(people.observer.tolist())
    chosen: dict[tuple[str, str], list[ErrorConsistency]] = {}
    for entry in pairs:
        both_people = set(entry.pair) <= names
        mine = both_people if kind == "humans" else (name in entry.pair and bool(names & set(entry.pair)))
        if mine and entry.condition in included and entry.n >= ENOUGH_PICTURES:
            chosen.setdefault(entry.pair, []).append(entry)
    return list(chosen.values())


def _squared_difference(entry: ErrorConsistency) -> float:
    first, second = entry.accuracies or (math.nan, math.nan)
    return (first - second) ** 2


def _pooled(people: Observations, own: Observations | None, settings: FitSettings) -> PooledConsistency | None:
    rows = people if own is None else joined([people, own])
    if not len(rows):
        return None
    pictures, first, picture = np.unique(pictures_of(rows), return_index=True, return_inverse=True)
    mine = np.zeros(len(rows), dtype=np.bool_)
    mine[len(people) :] = True

    def counted(chosen: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        right = np.bincount(picture[chosen], weights=rows.correct[chosen], minlength=len(pictures))
        n = np.bincount(picture[chosen], minlength=len(pictures))
        return right.astype(np.float64), n.astype(np.float64)

    columns = counted(~mine) if own is None else (*counted(~mine), *counted(mine))
    try:
        return pooled_consistency(
            *columns,
            strata=conditions_of(rows)[first],
            clusters=rows.original[first],
            level=settings.level,
        )
    except TooFewResponses:
        return None
