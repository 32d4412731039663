"""What is known of two observers after the pictures that both saw: the posterior of their kappa, without draws."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from analysis.arrays import FloatArray, IntArray

#: A lattice of so many points stands for the posterior. Of 150 generators this one errs least: by at most .004 in
#: either end of an interval, over tables from 10 to 1,000 pictures with and without empty cells.
_POINTS, _GENERATOR, _KNOTS = 4093, 705, 257


@lru_cache(maxsize=8192)
def kappa_interval(both: int, first: int, second: int, neither: int, level: float) -> tuple[float, float]:
    """Equal-tailed interval of kappa.

    Parameters
    ----------
    both, first, second, neither : int
        Pictures on which both observers are right, the first alone, the second alone, and neither.
    level : float
        In (0, 1).

    Returns
    -------
    tuple of float
        In [-1, 1]. Ends of the posterior: 1, the estimate where all agree, lies just above them.

    Notes
    -----
    The four shares (both right, one of them, the other, neither) have Jeffreys' prior, so their posterior is a
    Dirichlet distribution with half a picture more in each cell. A fixed rank-1 lattice takes the place of draws:
    equal tables have equal intervals, whatever else is analysed. Measured in `benchmarks/claims/kappa.py`: the
    percentile bootstrap, which this replaces, covered in .74 to .93, and had no width where all pictures agreed.
    """
    a, b, c, d = _cells(both, first, second, neither)
    # Kappa does not change when all four cells are multiplied: gamma variates need not be made shares.
    kappa = 2.0 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))
    return _equal_tailed(kappa, level)


@lru_cache(maxsize=8192)
def copied_interval(both: int, first: int, second: int, neither: int, level: float) -> tuple[float, float]:
    """Equal-tailed interval of the share of copied answers (`analysis.agreement.pairs.ErrorConsistency.copied`).

    Parameters
    ----------
    both, first, second, neither, level
        As in `kappa_interval`.

    Returns
    -------
    tuple of float
        In [-1, 1].

    Notes
    -----
    From the same points of the same posterior. At each of them the observer with the higher accuracy there is the one
    who is copied, since it is not known which one has it; with p its share of right pictures and the covariance ``ad -
    bc`` of being right, the copied share is ``(ad - bc) / (p (1 - p))``.
    """
    a, b, c, d = _cells(both, first, second, neither)
    more = b >= c
    spread = np.where(more, (a + b) * (c + d), (a + c) * (b + d))
    return _equal_tailed((a * d - b * c) / spread, level)


def _cells(both: int, first: int, second: int, neither: int) -> list[FloatArray]:
    """Gamma variates of the four cells at each point of the lattice."""
    counts = both, first, second, neither
    return [_gamma(count)[order] for count, order in zip(counts, _orders(), strict=True)]


def _equal_tailed(values: FloatArray, level: float) -> tuple[float, float]:
    lower, upper = np.quantile(values, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(lower), float(upper)


@lru_cache(maxsize=1024)
def _gamma(count: int) -> FloatArray:
    """Quantiles of a cell's gamma variate, half a picture added, shape (_POINTS,)."""
    from scipy.special import gammaincinv, ndtr

    # The cube root of a gamma variate is nearly normal: every sixteenth quantile gives the others.
    normal, knots = _normal()
    return np.asarray(np.interp(normal, knots, np.cbrt(gammaincinv(count + 0.5, ndtr(knots)))) ** 3)


@lru_cache(maxsize=1)
def _normal() -> tuple[FloatArray, FloatArray]:
    """Normal quantiles of the lattice, and knots over their range, shapes (_POINTS,) and (_KNOTS,)."""
    from scipy.special import ndtri

    normal = ndtri((np.arange(_POINTS) + 0.5) / _POINTS)
    return normal, np.linspace(normal[0], normal[-1], _KNOTS)


@lru_cache(maxsize=1)
def _orders() -> IntArray:
    """Points of the lattice: for each of the four cells its order of the quantiles, shape (4, _POINTS)."""
    return np.array([np.arange(_POINTS) * pow(_GENERATOR, cell, _POINTS) % _POINTS for cell in range(4)])
