"""Which of many estimates are not 0: step-down over all of them, at one level for the whole family."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

FloatArray = NDArray[np.float64]


def stepdown(statistics: FloatArray, draws: NDArray[np.float32], level: float) -> tuple[NDArray[np.bool_], float]:
    """Reject hypotheses one after the other, the largest statistic first.

    Parameters
    ----------
    statistics : ndarray, shape (q,)
        Absolute values on the scale of standard normal ones.
    draws : ndarray, shape (b, q)
        The same under the null hypothesis, jointly.
    level : float
        Chance of any false rejection, in (0, 1).

    Returns
    -------
    rejected : ndarray of bool, shape (q,)
    critical : float
        What the largest of all q must exceed.

    Notes
    -----
    Romano and Wolf (2005), Econometrica 73, 1237, algorithm 4.1: what was rejected leaves the maximum, and the others
    are tried against the smaller one until nothing more is rejected.
    """
    remaining = np.ones(len(statistics), dtype=np.bool_)
    critical = first = _quantile(draws, level)
    while True:
        more = remaining & (statistics > critical)
        if not more.any():
            return ~remaining, first
        remaining &= ~more
        if not remaining.any():
            return ~remaining, first
        critical = min(critical, _quantile(draws[:, remaining], level))


def _quantile(draws: NDArray[np.float32], level: float) -> float:
    """Quantile of the largest; never below that of a single test, which statistics without any spread would allow."""
    return max(float(np.quantile(draws.max(axis=1), 1.0 - level)), float(ndtri(1.0 - level / 2.0)))
