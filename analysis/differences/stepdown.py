"""Which of many estimates are not 0: step-down over all of them, at one level for the whole family."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from analysis.arrays import FloatArray


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
