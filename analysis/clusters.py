"""Variance of an estimate whose answers share people and pictures, and exact limits of a binomial proportion.

An estimate is linearised: every answer contributes its influence (weight times residual), and the estimate's error is
the sum of all contributions. Answers of one person, and answers to one original, move together, so the contributions
are summed by person and by original first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Clustered:
    """Spread of estimates, one an entry.

    Parameters
    ----------
    variance : ndarray, shape (q,)
    degrees_of_freedom : ndarray, shape (q,)
        At least 1.
    """

    variance: FloatArray
    degrees_of_freedom: FloatArray

    @property
    def standard_error(self) -> FloatArray:
        """Square root of the variance, shape (q,)."""
        return np.asarray(np.sqrt(self.variance))

    def part(self, which: Sequence[int]) -> Clustered:
        """Spread of some of the estimates, by their numbers."""
        chosen = list(which)
        return Clustered(self.variance[chosen], self.degrees_of_freedom[chosen])

    def reach(self, level: float) -> FloatArray:
        """Half the width of the two-sided t interval at this level, shape (q,)."""
        from scipy.special import stdtrit

        return np.asarray(stdtrit(self.degrees_of_freedom, (1.0 + level) / 2.0)) * self.standard_error

    def p_values(self, estimate: FloatArray) -> FloatArray:
        """Two-sided p-values of estimates against 0, shape (q,); without any spread an estimate is surely not 0."""
        from scipy.special import stdtr

        ratio = np.full(np.shape(estimate), np.inf)
        np.divide(np.abs(estimate), self.standard_error, out=ratio, where=self.variance > 0.0)
        ratio[np.asarray(estimate) == 0.0] = 0.0
        return np.asarray(2.0 * stdtr(self.degrees_of_freedom, -ratio))


def clustered(sums: Sequence[FloatArray], singles: FloatArray) -> Clustered:
    """Spread of estimates from the summed contributions of their clusters.

    Parameters
    ----------
    sums : sequence of ndarray, shape (clusters, q)
        For one or two ways of clustering (people, originals): the sum of contributions of each cluster.
    singles : ndarray, shape (q,)
        Sum of the squares of the single contributions: with two ways, what both count.

    Returns
    -------
    Clustered

    Notes
    -----
    ``V = max(V_p + V_o - V_1, V_p, V_o)``, each a sum of squares times G / (G - 1) (Cameron, Gelbach and Miller 2011,
    eqs. 2.11 and 2.13; the maximum keeps it positive). Degrees of freedom by Satterthwaite (1946), with the fourth
    moments of the clusters in place of their unknown variances: ``3 V^2 / sum(u^4) - 2``, which is G for G equal
    clusters, and at most G - 1; those of two ways are combined by their variances.
    """
    variances, freedoms = zip(*(_one_way(own) for own in sums), strict=True)
    if len(sums) == 1:
        return Clustered(variances[0], freedoms[0])
    total = np.maximum(variances[0] + variances[1] - singles, np.maximum(variances[0], variances[1]))
    parts = (np.stack(variances) ** 2 / np.stack(freedoms)).sum(axis=0)
    freedom = np.divide(total**2, parts, out=np.minimum(*freedoms), where=parts > 0.0)
    return Clustered(total, np.maximum(freedom, 1.0))


def _one_way(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    count = len(sums)
    squares = sums**2
    total = squares.sum(axis=0)
    fourth = (squares**2).sum(axis=0)
    freedom = 3.0 * np.divide(total**2, fourth, out=np.full_like(total, count), where=fourth > 0.0) - 2.0
    return total * count / max(count - 1, 1), np.clip(freedom, 1.0, max(count - 1, 1))


def summed(contributions: FloatArray, codes: IntArray, count: int) -> FloatArray:
    """Sum contributions by cluster.

    Parameters
    ----------
    contributions : ndarray, shape (n, q)
    codes : ndarray of int, shape (n,)
        Cluster of each, in [0, count).
    count : int

    Returns
    -------
    ndarray, shape (count, q)
    """
    from scipy.sparse import csr_array

    rows = csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(count, len(codes)))
    return np.asarray(rows @ contributions)


def covariance(contributions: FloatArray, codes: IntArray, places: IntArray, shape: tuple[int, int]) -> FloatArray:
    """Covariance of estimates to each of which other answers contribute, clustered one way.

    Parameters
    ----------
    contributions : ndarray, shape (n,)
        What each answer adds to the error of its estimate.
    codes, places : ndarray of int, shape (n,)
        Cluster of each answer, and the estimate to which it contributes.
    shape : (int, int)
        Number of clusters G and of estimates q.

    Returns
    -------
    ndarray, shape (q, q)

    Notes
    -----
    ``G / (G - 1)`` times the sum of squares and products, as in `clustered`.
    """
    from scipy.sparse import csr_array

    sums = csr_array((contributions, (codes, places)), shape=shape)
    sums.sum_duplicates()
    return np.asarray((sums.T @ sums).toarray() * shape[0] / max(shape[0] - 1, 1))


def exact_bound(successes: float, trials: float, tail: float) -> tuple[float, float]:
    """Lower and upper limit of a proportion, each with a chance of at most ``tail`` to lie on the wrong side.

    Parameters
    ----------
    successes, trials : float
        0 <= successes <= trials. Counts may be fractional: an effective number of trials is one.
    tail : float
        In (0, 1): 0.025 on each side is an interval at level 0.95.

    Returns
    -------
    tuple of float
        In [0, 1]; (0, 1) without trials.

    Notes
    -----
    Clopper and Pearson (1934).
    """
    from scipy.special import betaincinv

    failures = trials - successes
    lower = 0.0 if successes <= 0.0 else float(betaincinv(successes, failures + 1.0, tail))
    upper = 1.0 if failures <= 0.0 else float(betaincinv(successes + 1.0, failures, 1.0 - tail))
    return lower, upper
