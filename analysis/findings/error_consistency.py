"""Error consistency of every pair of observers, on the pictures that both saw."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.agreement import consistency_from_counts, stretch_of
from analysis.findings.model import LEVEL, ErrorConsistency
from analysis.findings.observations import Observations
from analysis.findings.observers import ordered_conditions

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
    return ErrorConsistency(
        pair=found.pair,
        condition=found.condition,
        n=found.n,
        originals=found.originals,
        kappa=None if own.interval is None else own.kappa,
        observed=own.observed,
        expected=own.expected,
        accuracies=own.accuracies,
        shown=own.shown,
        interval=own.interval,
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
