"""Poisson counts by inversion: one quantile a pixel, kept at every number of photons.

The count of a pixel with mean ``m`` and quantile ``u`` is the smallest ``n`` with ``P(N <= n) >= u``. Up to a mean of
`EXPANSION_FROM` it is looked up in a table of the exact distribution; above, the Cornish-Fisher expansion of M. B.
Giles (2016), "Algorithm 955: approximation of the inverse Poisson cumulative distribution function", ACM TOMS 42(1),
is rounded down, with terms up to ``1 / m``.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from analysis import opencv as cv2
from analysis.corruptions.fields import Field, frozen

#: Mean from which the expansion is used: it is off by one for fewer than one pixel in 10,000 there.
EXPANSION_FROM = 24.0
#: Counts of the largest tabulated mean exceed this with a chance below 1e-9.
_MAXIMUM_COUNT = 64
#: Stretches of quantiles of which the table knows the first count.
_STRETCHES = 512


@lru_cache(maxsize=1)
def _uniform(shape: tuple[int, ...], seed: int) -> tuple[Field, NDArray[np.int32]]:
    """Quantiles in (0, 1), flat, and the stretch of the table that each lies in."""
    uniform = np.random.default_rng(seed).random(int(np.prod(shape)), dtype=np.float32)
    np.maximum(uniform, np.float32(2.0**-25), out=uniform)
    return frozen(uniform), (uniform * np.float32(_STRETCHES)).astype(np.int32)


@lru_cache(maxsize=1)
def _normal(shape: tuple[int, ...], seed: int) -> Field:
    """Standard normal values of the same quantiles, flat."""
    from scipy.special import ndtri

    return frozen(ndtri(_uniform(shape, seed)[0]))


def poisson_counts(levels: NDArray[np.uint8], photons: float, seed: int) -> Field:
    """Counts with mean ``photons * level / 255``.

    Parameters
    ----------
    levels : ndarray of uint8, any shape
    photons : float
        Mean at level 255, above 0.
    seed : int
        Of the quantiles, which are the same for every ``photons``.

    Returns
    -------
    ndarray of float32, shape of levels
        Whole numbers.
    """
    uniform, stretch = _uniform(levels.shape, seed)
    flat = levels.ravel()
    means: NDArray[np.float64] = photons * np.arange(256, dtype=np.float64) / 255.0
    tabulated = int(np.searchsorted(means, EXPANSION_FROM, side="right"))
    if tabulated > 255:
        return _from_table(flat, means, uniform, stretch).reshape(levels.shape)
    counts = _from_expansion(flat, means, _normal(levels.shape, seed))
    low = np.flatnonzero(flat < tabulated)
    if low.size:
        counts[low] = _from_table(flat[low], means[:tabulated], uniform[low], stretch[low])
    return counts.reshape(levels.shape)


def _from_expansion(levels: NDArray[np.uint8], means: NDArray[np.float64], normal: Field) -> Field:
    """``m + sqrt(m) z + (z z / 6 + 1 / 3) + ...``, added in this order: sums of float32 differ by their order."""
    roots = np.sqrt(means)
    inverses = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
    counts, root, inverse = (cv2.LUT(levels, one.astype(np.float32)).ravel() for one in (means, roots, inverses))
    square = normal * normal
    root *= normal
    counts += root
    term = np.multiply(square, np.float32(1 / 6), out=root)
    counts += term
    counts += np.float32(1 / 3)
    np.multiply(square, np.float32(1 / 270), out=term)
    term += np.float32(7 / 810)
    term *= square
    term -= np.float32(8 / 405)
    term *= inverse
    square *= np.float32(-1 / 72)
    square -= np.float32(1 / 36)
    square *= normal
    term += square
    term *= inverse
    counts += term
    np.floor(counts, out=counts)
    return np.asarray(np.maximum(counts, np.float32(0.0), out=counts))


def _from_table(
    levels: NDArray[np.uint8], means: NDArray[np.float64], uniform: Field, stretch: NDArray[np.int32]
) -> Field:
    distribution = _distribution(means)
    first = _first_counts(distribution)
    place = levels.astype(np.int32) * (_STRETCHES + 1)
    place += stretch
    counts = np.take(first, place)
    # Most stretches of quantiles hold one count only; in the others, step to the right one.
    open_ = np.flatnonzero(np.take(first, place + 1) != counts)
    while open_.size:
        open_ = open_[distribution[levels[open_], counts[open_]] < uniform[open_]]
        counts[open_] += 1
    return counts.astype(np.float32)


def _distribution(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """``P(N <= n)`` for each mean, shape (means, counts); the last column is out of every quantile's reach."""
    probability = np.exp(-means)
    columns = [probability]
    for count in range(1, _MAXIMUM_COUNT + 1):
        probability = probability * means / count
        columns.append(probability)
    distribution = np.cumsum(np.stack(columns, axis=1), axis=1)
    distribution[:, -1] = np.inf
    return distribution


def _first_counts(distribution: NDArray[np.float64]) -> NDArray[np.int32]:
    """Count at the lower end of each stretch of quantiles, flat, shape (means * (stretches + 1),)."""
    width = _STRETCHES + 1
    ends = np.ceil(np.minimum(distribution[:, :-1], 1.0) * _STRETCHES).astype(np.int64)
    rows = np.arange(len(distribution))[:, None] * width
    steps = np.bincount((rows + ends).ravel(), minlength=len(distribution) * width)
    return np.cumsum(steps.reshape(-1, width), axis=1).astype(np.int32).ravel()
