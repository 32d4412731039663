"""Answers to one corruption function, by cells of the axis: means, and what each person and original contributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from analysis.errors import InvalidInput

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Who or what each answer belongs to: the names once, and their numbers answer by answer.

    Parameters
    ----------
    names : ndarray of str, shape (g,)
        Sorted, each once.
    codes : ndarray of int, shape (n,)
    """

    names: NDArray[np.str_]
    codes: IntArray

    @classmethod
    def of(cls, ids: NDArray[np.str_]) -> Clusters:
        """From the name of each answer, shape (n,)."""
        names, codes = np.unique(ids, return_inverse=True)
        return cls(names, codes.astype(np.int64))

    def select(self, rows: NDArray[np.bool_]) -> Clusters:
        """Keep these answers."""
        return Clusters.of(self.names[self.codes[rows]])


@dataclass(frozen=True, eq=False)
class AnswersToOne:
    """Answers of people, or of one model, to one corruption function.

    Parameters
    ----------
    place, outcome : ndarray, shape (n,)
        Visual change (or another abscissa brought to [0, 1]) and outcome in [0, 1].
    originals : Clusters
    people : Clusters or None
        None where one observer answered.
    """

    place: FloatArray
    outcome: FloatArray
    originals: Clusters
    people: Clusters | None = None

    @classmethod
    def of(
        cls, place: ArrayLike, outcome: ArrayLike, originals: ArrayLike, people: ArrayLike | None = None
    ) -> AnswersToOne:
        """From columns, one entry an answer.

        Raises
        ------
        InvalidInput
            If the columns differ in length, or a place or an outcome lies outside [0, 1].
        """
        places, outcomes = np.asarray(place, dtype=np.float64), np.asarray(outcome, dtype=np.float64)
        ids = [np.asarray(one).astype(np.str_) for one in (originals, people) if one is not None]
        if places.ndim != 1 or any(column.shape != places.shape for column in (outcomes, *ids)):
            raise InvalidInput("Place, outcome, original and person are columns of one length: one entry an answer.")
        if not all(np.all((column >= 0.0) & (column <= 1.0)) for column in (places, outcomes)):
            raise InvalidInput("Places and outcomes of answers lie in [0, 1].")
        return cls(places, outcomes, *map(Clusters.of, ids))

    def __len__(self) -> int:
        """Number of answers."""
        return len(self.place)

    def select(self, rows: NDArray[np.bool_]) -> AnswersToOne:
        """Keep these answers."""
        people = None if self.people is None else self.people.select(rows)
        return AnswersToOne(self.place[rows], self.outcome[rows], self.originals.select(rows), people)

    def weights(self) -> FloatArray:
        """Weight of each answer, shape (n,): every person counts once, whatever the number of their answers."""
        if self.people is None:
            return np.ones(len(self))
        return (1.0 / np.bincount(self.people.codes))[self.people.codes]

    def by_cell(self, edges: FloatArray) -> CellMeans:
        """Means of the cells between the edges, and what each person and original contributes to their errors."""
        n_cells = len(edges) - 1
        cell, weight = cell_of(self.place, edges), self.weights()
        counts = np.bincount(cell, minlength=n_cells)
        total = np.bincount(cell, weight, n_cells)
        sums = np.bincount(cell, weight * self.outcome, n_cells)
        means = np.divide(sums, total, out=np.full(n_cells, np.nan), where=total > 0.0)
        # A residual from a mean of n answers is too small by (n - 1) / n.
        stretch = np.sqrt(counts / np.maximum(counts - 1.0, 1.0))
        share = np.divide(weight, total[cell])
        contribution = share * (self.outcome - means[cell]) * stretch[cell]
        shape = (len(self), n_cells)
        answers = csr_array((contribution, cell, np.arange(len(self) + 1)), shape=shape)
        return CellMeans(
            means=means,
            counts=counts,
            right=np.bincount(cell, self.outcome, n_cells).astype(np.float64),
            singles=np.bincount(cell, contribution**2, n_cells).astype(np.float64),
            originals=_gathered(answers, self.originals),
            people=None if self.people is None else _gathered(answers, self.people),
        )


@dataclass(frozen=True, eq=False)
class CellMeans:
    """Means of answers in cells of the axis.

    Parameters
    ----------
    means : ndarray, shape (cells,)
        NaN where there is no answer.
    counts, right : ndarray, shape (cells,)
        Answers, and the sum of their outcomes.
    singles : ndarray, shape (cells,)
        Sum of squares of the answers' contributions to the error of the mean.
    originals, people : SumsOfNames
        ``people`` is None where one observer answered.
    """

    means: FloatArray
    counts: IntArray
    right: FloatArray
    singles: FloatArray
    originals: SumsOfNames
    people: SumsOfNames | None


@dataclass(frozen=True, eq=False)
class SumsOfNames:
    """Contributions to the errors of the cells, summed by name.

    Parameters
    ----------
    names : ndarray of str, shape (g,)
        Sorted, each once.
    sums : sparse array, shape (g, cells)
    """

    names: NDArray[np.str_]
    sums: csr_array

    def among(self, names: NDArray[np.str_]) -> csr_array:
        """The same rows at the places of their names among all names, shape (len(names), cells)."""
        place = np.searchsorted(names, self.names)
        at = csr_array((np.ones(len(place)), (place, np.arange(len(place)))), shape=(len(names), len(place)))
        return csr_array(at @ self.sums)


def cell_of(place: FloatArray, edges: FloatArray) -> IntArray:
    """Cell of each place; cells are closed on the left, the last one on both sides."""
    return np.clip(np.searchsorted(edges, place, side="right") - 1, 0, len(edges) - 2)


def _gathered(answers: csr_array, clusters: Clusters) -> SumsOfNames:
    """Sum the rows of equal name."""
    codes, count = clusters.codes, len(clusters.names)
    rows = csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(count, len(codes)))
    return SumsOfNames(clusters.names, csr_array(rows @ answers))
