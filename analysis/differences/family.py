"""Many linear estimates from the same people and originals, as one family: which of them are not 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from scipy.special import ndtr, ndtri, stdtr

from analysis.arrays import BoolArray, FloatArray
from analysis.clusters import Clustered, clustered
from analysis.differences.answers import SumsOfNames, side_by_side
from analysis.study.analysis_plan import LEVEL


def stepdown(statistics: FloatArray, draws: NDArray[np.float32], level: float) -> tuple[FloatArray, float]:
    """Correct the p-values of a family: hypotheses are rejected one after the other, the largest statistic first.

    Parameters
    ----------
    statistics : ndarray, shape (q,)
        On the scale of standard normal ones, the larger the more significant: absolute values of two-sided hypotheses,
        or signed ones where each direction is a hypothesis of its own.
    draws : ndarray, shape (b, q)
        The same under the null hypothesis, jointly.
    level : float
        Chance of any false rejection, in (0, 1).

    Returns
    -------
    p : ndarray, shape (q,)
        Corrected p-values, in (0, 1]: what lies below ``level`` is rejected.
    critical : float
        What the largest of all q must exceed.

    Notes
    -----
    Romano and Wolf (2005), Econometrica 73, 1237, algorithm 4.1, by adjusted p-values (Romano and Wolf 2016, Stat.
    Probab. Lett. 113, 38): what was rejected leaves the maximum, and the others are compared with the smaller one. A
    p-value is never below that of a single test, which statistics without any spread would allow.
    """
    rising = np.argsort(statistics, kind="stable")
    largest = np.maximum.accumulate(draws[:, rising], axis=1)
    reached = (largest >= statistics[rising]).sum(axis=0)
    p = np.maximum((1.0 + reached) / (1.0 + len(draws)), 2.0 * ndtr(-np.maximum(statistics[rising], 0.0)))
    found = np.empty_like(p)
    # A smaller statistic is never the more significant one.
    found[rising] = np.maximum.accumulate(p[::-1])[::-1]
    critical = max(float(np.quantile(largest[:, -1], 1.0 - level)), float(ndtri(1.0 - level / 2.0)))
    return found, critical


Draws = NDArray[np.float32]

#: Joint draws of the null distribution of the largest statistic: at its 95 % quantile lie .95 of it, give or take .005.
DRAWS = 2000
#: A variance that is only rounding.
NOTHING = 1e-12
#: Added to correlations, so that rounding leaves their matrix positive definite.
_JITTER = 1e-9


@dataclass(frozen=True, eq=False)
class Estimates:
    """Contrasts over columns, with what each person and each original contributes to the columns' errors.

    Parameters
    ----------
    values : ndarray, shape (q,)
    matrix : ndarray, shape (q, columns)
        What each estimate makes of the columns.
    sums : mapping of unit to SumsOfNames
        By "original", by "person", or both, in this order: signed contributions to the columns. Equal names are the
        same person or original in all members of a family.
    spread : Clustered
    """

    values: FloatArray
    matrix: FloatArray
    sums: Mapping[str, SumsOfNames]
    spread: Clustered
    #: Variance of the sums over people and over originals together, before what both count is taken off; shape (q,).
    both: FloatArray

    @classmethod
    def of(
        cls,
        values: FloatArray,
        matrix: FloatArray,
        sums: Mapping[str, SumsOfNames],
        singles: FloatArray,
        least: FloatArray | float = 0.0,
    ) -> Estimates:
        """With the spread that the contributions give.

        Parameters
        ----------
        values, matrix, sums
            As above.
        singles : ndarray, shape (q,)
            As in `clustered`.
        least : ndarray, shape (q,), or float
            Variance that an estimate has whatever its contributions say.
        """
        gathered = [one.sums @ matrix.T for one in sums.values()]
        spread = clustered(gathered, singles)
        spread = replace(spread, variance=np.maximum(spread.variance, NOTHING + least))
        both = sum((one**2).sum(axis=0) for one in gathered)
        return cls(values, matrix, sums, spread, np.asarray(both))

    @property
    def correlation(self) -> FloatArray:
        """Of the errors, from the people and originals that they share, shape (q, q)."""
        gathered = [one.sums @ self.matrix.T for one in self.sums.values()]
        product = sum((own.T @ own for own in gathered), start=np.zeros((len(self.values), len(self.values))))
        scale = np.sqrt(np.maximum(np.diag(product), NOTHING))
        return np.asarray(product / np.outer(scale, scale))

    @property
    def normal_scores(self) -> FloatArray:
        """|t| as the normal deviate of the same tail: t of 5 degrees of freedom and of 500 stand on one scale."""
        error = self.spread.standard_error
        ratio = np.divide(np.abs(self.values), error, out=np.zeros_like(error), where=error > 0.0)
        tail = np.maximum(stdtr(self.spread.degrees_of_freedom, -ratio), 1e-300)
        return np.asarray(np.where(tail < 0.5, -ndtri(tail), 0.0))


class Decided(NamedTuple):
    """What a step-down says of a family.

    Parameters
    ----------
    differ : list of ndarray of bool, shape (q,)
        By member: which estimates are not 0.
    p : list of ndarray, shape (q,)
        Their p-values, corrected over the family.
    critical : float
        Standard errors that the first one needs.
    """

    differ: list[BoolArray]
    p: list[FloatArray]
    critical: float


def which_differ(
    family: Sequence[Estimates],
    *,
    level: float = LEVEL,
    seed: int = 0,
    n_draws: int = DRAWS,
) -> Decided:
    """Which estimates of each member differ from 0, by one step-down over all.

    Parameters
    ----------
    family : sequence of Estimates
        At least one.
    level : float
        1 minus the chance that any estimate is falsely said to differ.
    seed, n_draws : int
        Of the joint draws, and how many.
    """
    drawn = null_draws(family, seed=seed, n_draws=n_draws)
    draws = np.concatenate([np.abs(one) for one in drawn], axis=1)
    statistics = np.concatenate([one.normal_scores for one in family])
    p, critical = stepdown(statistics, draws, 1.0 - level)
    ends = np.cumsum([len(one.values) for one in family])[:-1]
    by_member = np.split(p, ends)
    return Decided([one < 1.0 - level for one in by_member], by_member, critical)


def null_draws(family: Sequence[Estimates], *, seed: int, n_draws: int) -> list[Draws]:
    """Standardised estimates of each member as they would fall if all were 0, jointly; each of shape (n_draws, q).

    Parameters
    ----------
    family : sequence of Estimates
    seed, n_draws : int

    Notes
    -----
    One normal multiplier a person and an original for the whole family (Chernozhukov, Chetverikov and Kato 2013, Ann.
    Statist. 41, 2786), so that estimates from the same people and pictures move together. Where there are fewer columns
    than people and originals, normal draws with the covariance that this gives the columns: the same in distribution.
    """
    # Members may share their columns, which are then drawn once.
    parts = list({_shared(one): one for one in family}.values())
    root = _root(csr_array(vstack([_contributions(parts, unit) for unit in ("original", "person")])))
    normal = np.random.default_rng(seed).standard_normal((root.shape[1], n_draws), dtype=np.float32)
    # float32: what it rounds off is far below the Monte Carlo error of the quantile
    moved = root.astype(np.float32) @ normal
    ends = np.cumsum([one.matrix.shape[1] for one in parts])[:-1]
    columns = dict(zip(map(_shared, parts), np.split(moved, ends), strict=True))
    draws = []
    for one in family:
        # Contributions that cancel leave rounding errors alone.
        scale = np.where(one.both > NOTHING, np.sqrt(one.both), 0.0)
        drawn = one.matrix.astype(np.float32) @ columns[_shared(one)]
        drawn = np.divide(drawn, scale[:, None], out=np.zeros_like(drawn), where=scale[:, None] > 0.0)
        draws.append(drawn.T)
    return draws


def _shared(one: Estimates) -> tuple[int, ...]:
    """What members of the same columns have in common."""
    return tuple(id(own) for own in one.sums.values())


def _contributions(parts: Sequence[Estimates], unit: str) -> csr_array:
    """What people, or originals, contribute to the columns of all parts side by side."""
    return side_by_side([one.sums.get(unit, SumsOfNames.of_nobody(one.matrix.shape[1])) for one in parts]).sums


def _root(sums: csr_array) -> FloatArray | csr_array:
    """A matrix whose product with its transpose is that of the contributions, with as few columns as may be."""
    if sums.shape[0] <= sums.shape[1]:
        return csr_array(sums.T)
    covariance = (sums.T @ sums).toarray()
    scale = np.sqrt(covariance.diagonal())
    outer = np.where(scale > 0.0, scale, 1.0)
    correlation = covariance / outer[:, None] / outer + _JITTER * np.eye(len(scale))
    return np.asarray(scale[:, None] * np.linalg.cholesky(correlation))
