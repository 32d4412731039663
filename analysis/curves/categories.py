"""Categories weighed equally along a curve: what each answer counts then, and where a category was not measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray, IntArray
from analysis.curves.binning import bin_index

Range = tuple[float, float]

#: Bins of the axis; neighbouring ones are gathered into windows.
_BINS = 40
#: Pictures of each category, at equal shares, that make a window: what chance leaves of them then varies by a fifth.
PICTURES_EACH = 25
#: With fewer than this on the whole axis nothing is weighed: the weights would cost more than they mend.
FEWEST_EACH = 10
#: A stretch without a category is a gap of it where it is longer than .05 and an equal share would have put so many
#: pictures there: of 16 categories that are balanced but for chance one has such a stretch in 2 of 1,000 studies.
MISSED_EACH = 12
LONGEST_EMPTY = 0.05


@dataclass(frozen=True)
class CategoryGap:
    """A stretch of the axis in which a category of the study has no answers, and other categories have enough.

    Parameters
    ----------
    category : str
    start, end : float
        Edges of bins.
    """

    category: str
    start: float
    end: float


@dataclass(frozen=True, eq=False)
class Standard:
    """How answers count so that categories count equally.

    Parameters
    ----------
    factors : ndarray, shape (n,), or None
        By which the weight of each answer is multiplied; None where nothing is to be weighed.
    gaps : tuple of CategoryGap
    number : int
        Of the categories that count, K.
    """

    factors: FloatArray | None
    gaps: tuple[CategoryGap, ...] = ()
    number: int = 0


def equal_categories(
    place: FloatArray,
    category: NDArray[np.str_],
    *,
    pictures: NDArray[np.generic] | None = None,
    weights: FloatArray | None = None,
    study: Sequence[str] = (),
) -> Standard:
    """Weigh answers so that categories count equally in every neighbourhood of the visual change.

    Parameters
    ----------
    place : ndarray, shape (n,)
        Visual change of each answer, in [0, 1].
    category : ndarray of str, shape (n,)
    pictures : ndarray, shape (n,), optional
        Original of each answer: answers to one picture at one place are one chance of a category to be there.
    weights : ndarray, shape (n,), optional
        How much each answer counts otherwise.
    study : sequence of str
        Categories of the study, beyond those of the answers.

    Returns
    -------
    Standard

    Notes
    -----
    Post-stratification (Holt and Smith 1979) within windows of the axis: an answer's factor is ``sum(w) / (K sum(w of
    its category))`` over its window, K categories being there. Windows end where a category's gap begins or ends, and
    otherwise where they hold 25 pictures a category: the factors of categories that are balanced but for chance then
    vary by a fifth, which costs 1/25 of the answers' own variance. Weights of a window keep their sum.
    """
    names, code = np.unique(category, return_inverse=True)
    number = len(np.union1d(names, np.asarray(study, dtype=np.str_))) if len(study) else len(names)
    if number < 2 or not len(place):
        return Standard(None)
    index = bin_index(place, _BINS)
    every = _pictures(index, place, code, len(names), pictures)
    total = every.sum(axis=0)
    if total.sum() < FEWEST_EACH * number:
        return Standard(None)
    missing = [name for name in study if name not in set(names.tolist())]
    rows = [(str(name), own) for name, own in zip(names, every, strict=True)]
    rows += [(name, np.zeros(_BINS, dtype=np.int64)) for name in missing]
    gaps = tuple(
        CategoryGap(name, start / _BINS, end / _BINS)
        for name, own in rows
        for start, end in _empty(own, total, MISSED_EACH * number)
    )
    window = _windows(total, gaps, PICTURES_EACH * number)[index]
    base = np.ones(len(place)) if weights is None else weights
    n_windows = int(window.max()) + 1
    own = np.bincount(window * len(names) + code, base, n_windows * len(names)).reshape(n_windows, -1)
    there = np.maximum((own > 0.0).sum(axis=1), 1)
    factors = (own.sum(axis=1) / there)[window] / own[window, code]
    return Standard(None if np.ptp(factors) < 1e-12 else factors, gaps, number)


def pictures_needed(start: float, end: float) -> int:
    """How many pictures of a category close its gap.

    Parameters
    ----------
    start, end : float
        Of the gap, within [0, 1].

    Returns
    -------
    int
        Spread evenly from start to end, they leave no stretch without the category that counts as a gap.
    """
    return ceil((end - start) / LONGEST_EMPTY - 1e-9)


def _pictures(
    index: IntArray, place: FloatArray, code: NDArray[np.intp], number: int, pictures: NDArray[np.generic] | None
) -> IntArray:
    """Pictures by category and bin, shape (number, bins): equal originals at equal places are one."""
    first = np.arange(len(place))
    if pictures is not None:
        where, original = (np.unique(one, return_inverse=True)[1] for one in (place, pictures))
        first = np.unique(where * (int(original.max()) + 1) + original, return_index=True)[1]
    counts = np.bincount(code[first] * _BINS + index[first], minlength=number * _BINS)
    return counts.reshape(number, _BINS).astype(np.int64)


def _empty(own: IntArray, total: IntArray, enough: float) -> list[tuple[int, int]]:
    """Runs of bins without a category, longer than a gap may be, in which all others have enough pictures."""
    change = np.diff(np.concatenate([[0], own == 0, [0]]).astype(np.int64))
    runs = zip(np.flatnonzero(change == 1).tolist(), np.flatnonzero(change == -1).tolist(), strict=True)
    return [
        (start, end)
        for start, end in runs
        if (end - start) / _BINS > LONGEST_EMPTY + 1e-9 and total[start:end].sum() >= enough
    ]


def _windows(total: IntArray, gaps: Sequence[CategoryGap], enough: float) -> IntArray:
    """Window of each bin."""
    edges = sorted({0, _BINS, *(round(edge * _BINS) for gap in gaps for edge in (gap.start, gap.end))})
    window = np.zeros(_BINS, dtype=np.int64)
    number = 0
    for start, end in zip(edges, edges[1:], strict=False):
        held = np.cumsum(total[start:end])
        # As many windows as are full; what is left over joins the last.
        count = max(int(held[-1] // enough), 1)
        rank = np.minimum((held - total[start:end]) * count // max(int(held[-1]), 1), count - 1)
        window[start:end] = number + np.unique(rank, return_inverse=True)[1]
        number = int(window[end - 1]) + 1
    return window
