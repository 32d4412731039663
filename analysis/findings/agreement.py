"""How observers agree: error consistency of every pair, shape against texture, and the model-vs-human numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.agreement.pairs import consistency_from_counts, stretch_of
from analysis.agreement.pooled import PooledConsistency, pooled_consistency
from analysis.agreement.shape_bias import ShapeBias as BiasOfAnswers, shape_bias
from analysis.claims.agreement import ENOUGH_PICTURES
from analysis.errors import TooFewResponses
from analysis.findings.answers import ordered_conditions
from analysis.findings.fits import FitSettings
from analysis.findings.model.agreement import Agreement, CategoryBias, ErrorConsistency, Pooled, ShapeBias
from analysis.findings.model.entry import HUMANS
from analysis.findings.observations import CLEAN, Observations, joined
from analysis.findings.outcomes import ConditionScale, condition_number
from analysis.labels.conflicts import UNSAID
from analysis.labels.space import LabelSpace
from analysis.study.analysis_plan import LEVEL

if TYPE_CHECKING:
    from scipy.sparse import csr_array


#: More entries than this are not written: pairs that share few pictures are left out first.
MOST_PAIRS = 5000


def error_consistency_entries(
    people: Observations, classifiers: Observations, *, level: float = LEVEL
) -> tuple[list[ErrorConsistency], list[str]]:
    """Error consistency of every pair of observers and condition, on the pictures that both saw.

    Parameters
    ----------
    people, classifiers : Observations
    level : float
        Level of the intervals.

    Returns
    -------
    list of ErrorConsistency
        ``pair``, ``condition``, ``n``, ``kappa`` and ``interval`` (None where both are always right, or both always
        wrong), ``observed``, ``expected``, ``accuracies`` and ``shown`` (kappa is defined, and rests on pictures of
        `ENOUGH_PICTURES` different originals), ``originals``, ``copied`` (what kappa says as a share of copied
        answers); pairs without a common picture are left out.
    list of str
        Notes.

    Notes
    -----
    A picture is a stimulus; for published trials, whose file names differ between observers, it is the original
    within its condition. Of several answers of one observer to a picture the first counts. Where two observers share
    several pictures of an original, the interval is that of so many originals (`stretch_of`).
    """
    pairs: list[_Shared] = []
    for condition in ordered_conditions(people) + [
        one for one in ordered_conditions(classifiers) if one not in set(people.condition.tolist())
    ]:
        pairs.extend(_pairs_in(condition, people, classifiers, level))
    least = 1
    written = pairs
    while len(written) > MOST_PAIRS:
        least = 10 if least == 1 else 2 * least
        written = [pair for pair in pairs if pair.n >= least]
    notes = []
    if least > 1:
        notes.append(
            f"Error consistency: {len(pairs) - len(written)} pairs of observers with fewer than {least} pictures in "
            "common are left out."
        )
    return [_entry(pair, level) for pair in written], notes


class _Shared(NamedTuple):
    """Pictures that two observers have in common, and on how many the first, the second, and both are right."""

    pair: tuple[str, str]
    condition: str
    n: int
    right: tuple[int, int, int]
    originals: int
    stretch: float


def _entry(found: _Shared, level: float) -> ErrorConsistency:
    own = consistency_from_counts(*found.right, found.n, originals=found.originals, stretch=found.stretch, level=level)
    return ErrorConsistency.of(
        own,
        pair=found.pair,
        condition=found.condition,
        n=found.n,
        originals=found.originals,
        kappa=None if own.interval is None else own.kappa,
        copied=None if isnan(own.copied) else own.copied,
    )


def _pairs_in(condition: str, people: Observations, classifiers: Observations, level: float) -> Iterator[_Shared]:
    parts = [group.select(group.condition == condition) for group in (people, classifiers)]
    names: list[str] = [str(name) for part in parts for name in np.unique(part.observer)]
    picture = np.concatenate([np.where(part.imported, part.original, part.stimulus) for part in parts])
    observer = np.concatenate([part.observer for part in parts])
    correct = np.concatenate([part.correct for part in parts])
    pictures, shown_first, column = np.unique(picture, return_index=True, return_inverse=True)
    originals, original = np.unique(np.concatenate([part.original for part in parts])[shown_first], return_inverse=True)
    is_shared = len(originals) < len(pictures)
    position = {name: row for row, name in enumerate(names)}
    row = np.array([position[name] for name in observer.tolist()], dtype=np.int64)
    cells = row * max(len(pictures), 1) + column
    _, first = np.unique(cells, return_index=True)
    from scipy.sparse import csr_array

    shape = (len(names), max(len(pictures), 1))
    place = (row[first], column[first])
    seen = csr_array((np.ones(len(first)), place), shape=shape)
    right = csr_array((correct[first], place), shape=shape)
    common = (seen @ seen.T).toarray()
    # Entry (a, b): pictures seen by both on which a is right.
    own_right = (right @ seen.T).toarray()
    both_right = (right @ right.T).toarray()
    for a, b in combinations(range(len(names)), 2):
        if not common[a, b]:
            continue
        counts = (int(own_right[a, b]), int(own_right[b, a]), int(both_right[a, b]))
        n = int(common[a, b])
        count, stretch = n, 1.0
        if is_shared:
            chosen = np.intersect1d(_pictures(seen, a), _pictures(seen, b), assume_unique=True)
            own, code = np.unique(original[chosen], return_inverse=True)
            count = len(own)
            first_right, second_right = (np.isin(chosen, _pictures(right, who), assume_unique=True) for who in (a, b))
            stretch = stretch_of(first_right, second_right, code.astype(np.int64), level=level)
        yield _Shared((names[a], names[b]), condition, n, counts, count, stretch)


def _pictures(table: csr_array[np.float64, tuple[int, int]], row: int) -> NDArray[np.int64]:
    """Columns of a row that are not 0."""
    begin, end = table.indptr[row : row + 2]
    return np.asarray(table.indices[begin:end][table.data[begin:end] != 0.0], dtype=np.int64)


def shape_bias_entries(
    people: Observations, classifiers: Observations, space: LabelSpace, *, level: float
) -> list[ShapeBias]:
    """Shape bias of every observer who answered cue-conflict pictures, people first, and of all people together.

    Returns
    -------
    list of ShapeBias
        ``observer``, ``kind``, ``shape``, ``texture``, ``other``, ``bias`` (None without an answer that names shape or
        texture), ``interval`` (of all people: over people and pictures), and of all people and of classifiers
        ``by_category``, the same by the category of the picture; empty when neither the column of competing
        labels nor, without that column, a picture's name says that there is a cue conflict.
    """
    entries = []
    groups: tuple[tuple[Literal["human", "classifier"], Observations], ...] = (
        ("human", people),
        ("classifier", classifiers),
    )
    for kind, group in groups:
        shapes, textures, known = group.conflicts(space)
        rows = group.select(known)
        if not len(rows):
            continue
        forms, surfaces = shapes[known], textures[known]
        # Of several right labels the shape is the one that was answered: the picture's own label groups them.
        categories = np.where(rows.competing == UNSAID, forms, rows.category)
        names = np.unique(rows.observer).tolist()
        chosen = [(name, rows.observer == name) for name in names]
        if kind == "human":
            chosen.insert(0, (HUMANS, np.ones(len(rows), dtype=np.bool_)))
        for name, mine in chosen:
            found = _bias(rows, forms, surfaces, mine, level)
            # Those of single people rest on next to nothing.
            asked = space.ids if name == HUMANS or kind == "classifier" else ()
            own = {category: mine & (categories == category) & (forms != surfaces) for category in asked}
            by_category = [
                (category, _bias(rows, forms, surfaces, one, level)) for category, one in own.items() if one.any()
            ]
            entries.append(
                ShapeBias.of(
                    found,
                    observer=name,
                    kind=kind if name != HUMANS else "humans",
                    bias=_known(found),
                    by_category=tuple(
                        CategoryBias.of(one, category=category, bias=_known(one)) for category, one in by_category
                    ),
                )
            )
    return entries


def _bias(
    rows: Observations, shapes: NDArray[np.str_], textures: NDArray[np.str_], chosen: NDArray[np.bool_], level: float
) -> BiasOfAnswers:
    return shape_bias(
        rows.response[chosen],
        shapes[chosen],
        textures[chosen],
        people=rows.observer[chosen],
        pictures=rows.original[chosen],
        level=level,
    )


def _known(found: BiasOfAnswers) -> float | None:
    """None without an answer that names shape or texture."""
    return found.bias if found.shape + found.texture else None


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
    """What two observers have in common: the stimulus, or in published trials the original within its condition.

    Published trials may have several pictures of one original in a condition: each is named within its condition.
    """
    inside = np.char.add(rows.condition, "/")
    within = ~rows.imported | np.char.startswith(rows.stimulus, inside)
    return np.asarray(np.where(within, rows.stimulus, np.char.add(inside, rows.original)), dtype=np.str_)


def places_among(names: NDArray[np.str_], shown: NDArray[np.str_]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where each picture that was shown is among names in order, and whether it is there at all."""
    if not len(names):
        return np.zeros(len(shown), dtype=np.intp), np.zeros(len(shown), dtype=np.bool_)
    place = np.searchsorted(names, shown).clip(max=len(names) - 1)
    return place, names[place] == shown


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
        pooled=None if found is None else Pooled.of(found),
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
