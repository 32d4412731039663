"""By how much one network is ahead of another on pictures that both answered, beyond what pictures leave open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import FloatArray, IntArray
from analysis.clusters import clustered, summed
from analysis.study.analysis_plan import LEVEL


@dataclass(frozen=True)
class Ahead:
    """By how much one network is ahead of another on a set of pictures that both answered.

    Parameters
    ----------
    difference : float
        Mean of the means of cells, first minus second, in [-1, 1].
    interval : (float, float)
        Two-sided, for itself, over new originals.
    p : float
        Of the hypothesis that the first is not ahead, one-sided.
    """

    difference: float
    interval: tuple[float, float]
    p: float


def ahead(
    first: FloatArray,
    second: FloatArray,
    cells: IntArray,
    originals: IntArray,
    *,
    shares: FloatArray | None = None,
    level: float = LEVEL,
) -> Ahead:
    """Compare two networks on the same pictures.

    Parameters
    ----------
    first, second : ndarray, shape (n,)
        Outcomes in [0, 1], picture by picture.
    cells : ndarray of int, shape (n,)
        Cell of each picture: a level of strength, or a bin of visual change, of one function.
    originals : ndarray of int, shape (n,)
        Number of its original: what is made of one original moves together.
    shares : ndarray, shape (largest cell + 1,), optional
        Weight of each cell, by its number; by default every cell that has pictures counts equally. Those of empty cells
        are left out, and the others are brought to 1 together.
    level : float
        Of the interval.

    Notes
    -----
    The mean of differences within each cell, then over cells. Its error is linear in the pictures and is summed by
    original (Cameron, Gelbach and Miller 2011, with one way), with t quantiles by Satterthwaite.
    """
    gap = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    counts = np.bincount(cells)
    weights = np.where(counts > 0, 1.0 if shares is None else np.asarray(shares)[: len(counts)], 0.0)
    weights = weights / weights.sum()
    means = np.divide(np.bincount(cells, gap), counts, out=np.zeros(len(counts)), where=counts > 0)
    value = float(weights @ means)
    # A residual from a mean of n pictures is too small by (n - 1) / n.
    stretch = np.sqrt(counts / np.maximum(counts - 1.0, 1.0))
    influence = (weights / np.maximum(counts, 1) * stretch)[cells] * (gap - means[cells])
    spread = clustered([summed(influence[:, None], originals, int(originals.max()) + 1)], np.zeros(1))
    reach = float(spread.reach(level)[0])
    # p_values is two-sided; half of it lies beyond the value that was found.
    half = float(spread.p_values(np.array([value]))[0]) / 2.0
    return Ahead(value, (max(value - reach, -1.0), min(value + reach, 1.0)), half if value > 0.0 else 1.0 - half)
