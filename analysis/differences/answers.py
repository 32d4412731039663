"""Answers to one corruption function, by cells of the axis: means, and what each person and original contributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack

from analysis.arrays import BoolArray, FloatArray, IntArray
from analysis.curves.categories import CategoryGap, Standard, equal_categories
from analysis.errors import InvalidInput
from analysis.recruiters import Recruiters


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

    @classmethod
    def among(cls, ids: NDArray[np.str_], every: Sequence[str]) -> Clusters:
        """The same, with names that no answer has."""
        names = np.union1d(ids, np.asarray(every, dtype=np.str_))
        return cls(names, np.searchsorted(names, ids).astype(np.int64))

    def select(self, rows: BoolArray) -> Clusters:
        """Keep these answers."""
        kept, codes = np.unique(self.codes[rows], return_inverse=True)
        return Clusters(self.names[kept], codes.astype(np.int64))


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
    categories : Clusters or None
        Category of each answer where categories count equally; among the names are all that count.
    recruiters : Recruiters or None
        Where people of several recruiters count by weights; otherwise every person counts once.
    guesses : ndarray, shape (n,), or None
        Chance of a right guess on each trial, in (0, 1]; None where it is the same on all.
    """

    place: FloatArray
    outcome: FloatArray
    originals: Clusters
    people: Clusters | None = None
    categories: Clusters | None = None
    recruiters: Recruiters | None = None
    guesses: FloatArray | None = None
    #: what `by_cell` found, by its edges
    _cells: dict[bytes, CellMeans] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        place: ArrayLike,
        outcome: ArrayLike,
        originals: ArrayLike,
        people: ArrayLike | None = None,
        categories: Clusters | None = None,
        recruiters: Recruiters | None = None,
        guesses: FloatArray | None = None,
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
        names = [Clusters.of(one) for one in ids]
        return cls(places, outcomes, names[0], names[1] if len(names) > 1 else None, categories, recruiters, guesses)

    def __len__(self) -> int:
        """Number of answers."""
        return len(self.place)

    @property
    def n_people(self) -> int:
        """How many answered."""
        return 1 if self.people is None else len(np.unique(self.people.codes))

    def select(self, rows: BoolArray) -> AnswersToOne:
        """Keep these answers."""
        people, categories = (None if own is None else own.select(rows) for own in (self.people, self.categories))
        return AnswersToOne(
            self.place[rows],
            self.outcome[rows],
            self.originals.select(rows),
            people,
            categories,
            self.recruiters,
            None if self.guesses is None else self.guesses[rows],
        )

    @property
    def chance(self) -> float | None:
        """Share right of whoever guesses, every person counted as in the means; None where `guesses` are."""
        return None if self.guesses is None else float(np.average(self.guesses, weights=self.weights()))

    def weights(self) -> FloatArray:
        """Weight of each answer, shape (n,): every person counts once, or by the weight of their recruiter, and every
        category equally, however often.
        """
        base, factors = self._once_each(), self._standard.factors
        return base if factors is None else base * factors

    @property
    def category_gaps(self) -> tuple[tuple[float, float], ...]:
        """Stretches in which at least one category that counts was not measured."""
        return tuple((one.start, one.end) for one in self._standard.gaps)

    @property
    def thin_categories(self) -> tuple[CategoryGap, ...]:
        """The same with their names: of every stretch the category that has too few pictures there."""
        return self._standard.gaps

    def _once_each(self) -> FloatArray:
        if self.people is None:
            return np.ones(len(self))
        each = (
            np.ones(len(self.people.names)) if self.recruiters is None else self.recruiters.counts_of(self.people.names)
        )
        return np.asarray((each / np.bincount(self.people.codes))[self.people.codes])

    @cached_property
    def _standard(self) -> Standard:
        if self.categories is None:
            return Standard(None)
        return equal_categories(
            self.place,
            self.categories.names[self.categories.codes],
            pictures=self.originals.codes,
            weights=self._once_each(),
            study=self.categories.names.tolist(),
        )

    def by_cell(self, edges: FloatArray) -> CellMeans:
        """Means of the cells between the edges, and what each person and original contributes to their errors."""
        key = edges.tobytes()
        if key not in self._cells:
            self._cells[key] = self._by_cell(edges)
        return self._cells[key]

    def _by_cell(self, edges: FloatArray) -> CellMeans:
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
        return CellMeans(
            means=means,
            counts=counts,
            right=np.bincount(cell, self.outcome, n_cells).astype(np.float64),
            singles=np.bincount(cell, contribution**2, n_cells).astype(np.float64),
            answers=self,
            cell=cell,
            contribution=contribution,
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
    answers : AnswersToOne
    cell, contribution : ndarray, shape (n,)
        Of each answer: where it lies, and what it adds to the error of the mean there.
    """

    means: FloatArray
    counts: IntArray
    right: FloatArray
    singles: FloatArray
    answers: AnswersToOne
    cell: IntArray
    contribution: FloatArray

    @cached_property
    def originals(self) -> SumsOfNames:
        """What each original contributes to the errors of the cells."""
        return self._gathered(self.answers.originals)

    @cached_property
    def people(self) -> SumsOfNames | None:
        """What each person contributes; None where one observer answered."""
        return None if self.answers.people is None else self._gathered(self.answers.people)

    def without_each_original(self, row: FloatArray) -> FloatArray:
        """By how much one mean of cells would fall without each original, in the order of their names.

        A residual from the mean of a cell is too small, the more so the larger the original's part of the cell; what
        the mean would be without it tells the original's whole contribution (jackknife). An original that is alone in
        a cell counts there as it does in ``originals``.

        Parameters
        ----------
        row : ndarray, shape (cells,)
            Weights of the cells; the answers are of one observer.
        """
        codes, n_cells, weight = self.answers.originals.codes, len(self.means), self.answers.weights()
        together = codes * n_cells + self.cell
        size = len(self.answers.originals.names) * n_cells
        is_alone = np.bincount(together, minlength=size)[together] == self.counts[self.cell]
        own = np.bincount(together, weight, size)[together]
        total = np.bincount(self.cell, weight, n_cells)[self.cell]
        residual = weight * row[self.cell] * (self.answers.outcome - self.means[self.cell])
        lost = np.divide(residual, total - own, out=residual / total, where=~is_alone)
        return np.bincount(codes, lost, len(self.answers.originals.names)).astype(np.float64)

    def _gathered(self, clusters: Clusters) -> SumsOfNames:
        """Sum the contributions of equal name."""
        n_answers, count = len(self.cell), len(clusters.names)
        every = csr_array((self.contribution, self.cell, np.arange(n_answers + 1)), shape=(n_answers, len(self.means)))
        rows = csr_array((np.ones(n_answers), (clusters.codes, np.arange(n_answers))), shape=(count, n_answers))
        return SumsOfNames(clusters.names, csr_array(rows @ every))

    def least_variance(self, matrix: FloatArray) -> FloatArray:
        """Least variance of means of cells in which all answers were alike, shape (q,); 0 where they were not.

        However many answers agree, the next may not: half an answer more of the other kind, as if each were
        independent.

        Parameters
        ----------
        matrix : ndarray, shape (q, cells)
            Weights of the cells.
        """
        inside = matrix > 0.0
        count, right = inside @ self.counts, inside @ self.right
        alike = (right == 0.0) | (right == count)
        rate = 0.5 / (count + 1.0)
        return np.asarray(np.where(alike, rate * (1.0 - rate) / np.maximum(count, 1.0), 0.0))


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

    @classmethod
    def of_nobody(cls, cells: int) -> SumsOfNames:
        """Nobody contributes to so many cells."""
        return cls(np.empty(0, dtype=np.str_), csr_array((0, cells)))

    def among(self, names: NDArray[np.str_]) -> csr_array:
        """The same rows at the places of their names among all names, shape (len(names), cells)."""
        place = np.searchsorted(names, self.names)
        at = csr_array((np.ones(len(place)), (place, np.arange(len(place)))), shape=(len(names), len(place)))
        return csr_array(at @ self.sums)


def side_by_side(parts: Sequence[SumsOfNames]) -> SumsOfNames:
    """Contributions of names to the cells of all parts, one part after the other; equal names are one."""
    names = np.unique(np.concatenate([own.names for own in parts]))
    return SumsOfNames(names, csr_array(hstack([own.among(names) for own in parts])))


def added(parts: Sequence[tuple[SumsOfNames, FloatArray]]) -> SumsOfNames:
    """Contributions of names to one contrast over all parts, in a single column.

    Parameters
    ----------
    parts : sequence of (SumsOfNames, ndarray of shape (cells,))
        With the weights of their cells.
    """
    names, codes = np.unique(np.concatenate([own.names for own, _ in parts]), return_inverse=True)
    totals = np.bincount(codes, np.concatenate([own.sums @ contrast for own, contrast in parts]))
    return SumsOfNames(names, csr_array(totals[:, None]))


def cell_of(place: FloatArray, edges: FloatArray) -> IntArray:
    """Cell of each place; cells are closed on the left, the last one on both sides."""
    return np.clip(np.searchsorted(edges, place, side="right") - 1, 0, len(edges) - 2)
