"""The axis in cells, and the window means of a difference over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from analysis.arrays import BoolArray, FloatArray, IntArray
from analysis.differences.answers import AnswersToOne, CellMeans, cell_of

Range = tuple[float, float]

#: Width of the windows over which a difference is averaged (SCIENCE: margins).
WINDOW = 0.15
#: A stretch of this width with fewer answers of either side was not measured.
STRETCH, FEWEST = 0.05, 5
#: Cells that are wide enough for few answers, and the finer ones that many allow.
_COARSE, _FINE = 20, 40


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Linear functions of the cell means: the mean over everything measured, then the windows.

    Parameters
    ----------
    edges : ndarray, shape (cells + 1,)
    matrix : ndarray, shape (1 + windows, cells)
        Rows add to 1; 0 in cells that were not measured.
    ranges : tuple of (float, float)
        What each row covers; of the first, from the start to the end of what was measured.
    gaps : tuple of (float, float)
        Stretches inside the first range that were not measured.
    """

    edges: FloatArray
    matrix: FloatArray
    ranges: tuple[Range, ...]
    gaps: tuple[Range, ...]

    def cells_of(self, answers: AnswersToOne) -> CellMeans:
        """Means of the cells, of all answers or of those to the common conditions."""
        if not np.isfinite(self.edges).all():
            places = np.asarray([place for place, _ in self.ranges[1:]])
            answers = answers.select(np.isin(answers.place, places))
        return answers.by_cell(self.edges)


def contrasts_of(people: AnswersToOne, model: AnswersToOne, *, has_conditions: bool) -> Contrasts | None:
    """The contrasts on which a model can be compared with people.

    Parameters
    ----------
    people, model : AnswersToOne
    has_conditions : bool
        Whether they answered a published experiment with few conditions.

    Returns
    -------
    Contrasts or None
        None where both measured nothing in common.
    """
    lacking = (*people.category_gaps, *model.category_gaps)
    make = condition_contrasts if has_conditions else window_contrasts
    return make(people.place, model.place, lacking=lacking)


def window_contrasts(
    first: FloatArray, second: FloatArray, *, window: float = WINDOW, lacking: Sequence[Range] = ()
) -> Contrasts | None:
    """The cells and windows on which two sets of answers can be compared.

    Parameters
    ----------
    first, second : ndarray, shape (n,) and (m,)
        Places of the answers in [0, 1].
    window : float
        Width of a window, in (0, 1].
    lacking : sequence of (float, float)
        Stretches in which a category lacks answers on either side: they count as not measured.

    Returns
    -------
    Contrasts or None
        None where no stretch of the axis was measured by both.

    Notes
    -----
    Which cells there are follows from where answers lie, never from their outcomes. Cells of .025 need 5 answers of
    either side everywhere; where there are fewer the cells are .05 wide. A window that would reach into a stretch that
    was not measured is left out. Where the measured stretch is narrower than a window, it is the only one.
    """
    fine = np.linspace(0.0, 1.0, _FINE + 1)
    counts = np.minimum(_counts(first, fine), _counts(second, fine))
    if counts.min() >= FEWEST and not lacking:
        return _contrasts(_FINE, (1 << _FINE) - 1, window)
    coarse = np.linspace(0.0, 1.0, _COARSE + 1)
    enough = np.minimum(_counts(first, coarse), _counts(second, coarse)) >= FEWEST
    for start, end in lacking:
        enough &= (coarse[1:] <= start + 1e-9) | (coarse[:-1] >= end - 1e-9)
    if not enough.any():
        return None
    return _contrasts(_COARSE, int("".join("1" if one else "0" for one in enough[::-1]), 2), window)


@lru_cache(maxsize=256)
def _contrasts(n_cells: int, measured: int, window: float) -> Contrasts:
    """Contrasts over the cells whose bits are set, the lowest bit for the first cell."""
    edges = np.linspace(0.0, 1.0, n_cells + 1)
    is_measured = np.array([bool(measured >> cell & 1) for cell in range(n_cells)])
    inside = np.flatnonzero(is_measured)
    start, end = int(inside[0]), int(inside[-1]) + 1
    rows, ranges = [is_measured / is_measured.sum()], [(float(edges[start]), float(edges[end]))]
    width = max(round(window * n_cells), 1)
    for first, last in _runs(is_measured):
        for begin in range(first, max(last - width, first) + 1):
            stop = min(begin + width, last)
            row = np.zeros(n_cells)
            row[begin:stop] = 1.0 / (stop - begin)
            rows.append(row)
            ranges.append((float(edges[begin]), float(edges[stop])))
    gaps = tuple(
        (float(edges[start + first]), float(edges[start + last])) for first, last in _runs(~is_measured[start:end])
    )
    matrix = np.array(rows)
    for array in (edges, matrix):
        array.setflags(write=False)
    return Contrasts(edges, matrix, tuple(ranges), gaps)


def _runs(chosen: BoolArray) -> list[tuple[int, int]]:
    """First and one past the last of every run."""
    change = np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8))
    return list(zip(np.flatnonzero(change == 1).tolist(), np.flatnonzero(change == -1).tolist(), strict=True))


def condition_contrasts(first: FloatArray, second: FloatArray, *, lacking: Sequence[Range] = ()) -> Contrasts | None:
    """The same for a published experiment with few conditions: each that both answered often enough is a window.

    Parameters
    ----------
    first, second : ndarray, shape (n,) and (m,)
        Places of the conditions of the answers.
    lacking : sequence of (float, float)
        As in `window_contrasts`.
    """
    places = np.intersect1d(first, second)
    if not len(places):
        return None
    edges = np.concatenate([[-np.inf], (places[1:] + places[:-1]) / 2.0, [np.inf]])
    counts = np.minimum(*(_counts(side[np.isin(side, places)], edges) for side in (first, second)))
    enough = counts >= FEWEST
    for start, end in lacking:
        enough &= (places < start) | (places > end)
    if not enough.any():
        return None
    rows = [enough / enough.sum(), *np.eye(len(places))[enough]]
    kept = places[enough]
    ranges = ((float(kept[0]), float(kept[-1])), *((float(one), float(one)) for one in kept))
    return Contrasts(edges, np.array(rows), ranges, ())


def _counts(place: FloatArray, edges: FloatArray) -> IntArray:
    return np.bincount(cell_of(place, edges), minlength=len(edges) - 1)
