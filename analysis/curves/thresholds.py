"""The visual change at which performance has fallen to a given rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.curves.bootstrap import Unit, spread_of
from analysis.curves.curve import CurveFit
from analysis.errors import InvalidInput

FloatArray = NDArray[np.float64]
_POINTS = 1001


@dataclass(frozen=True)
class Threshold:
    """Where a curve crosses a rate.

    Parameters
    ----------
    rate : float
    v : float or None
        Visual change; None when the curve stays above the rate up to 1.
    interval : tuple or None
        Percentile interval; its upper end is None when it reaches 1. None without refits, or without ``v``.
    extrapolated : bool
        True when ``v`` lies outside the measured range.
    """

    rate: float
    v: float | None
    interval: tuple[float, float | None] | None
    extrapolated: bool


def threshold(curve: CurveFit, rate: float) -> Threshold:
    """Find the smallest visual change at which the curve is at or below a rate.

    Parameters
    ----------
    curve : CurveFit
    rate : float
        In (0, 1), for instance 0.75 or 0.5.

    Returns
    -------
    Threshold

    Raises
    ------
    InvalidInput
        If the rate is not strictly between 0 and 1.
    """
    if not 0.0 < rate < 1.0:
        raise InvalidInput(f"A threshold rate lies strictly between 0 and 1, not at {rate}.")
    grid = np.linspace(0.0, 1.0, _POINTS)
    design = curve.basis.design(grid)
    estimate = _crossing(grid, (design @ curve.coefficients)[None, :], rate)
    place = float(estimate[0])
    if not np.isfinite(place):
        return Threshold(rate, None, None, extrapolated=True)
    interval: tuple[float, float | None] | None = None
    if curve.bootstrap is not None:
        replicates: dict[Unit, FloatArray] = {
            # A refit that never falls so low is counted at the end of the range.
            unit: np.nan_to_num(_crossing(grid, draws.astype(np.float64) @ design.T, rate), nan=1.0)
            for unit, draws in curve.bootstrap.draws.items()
        }
        lower, upper = spread_of(estimate[0], replicates).percentile_interval(curve.config.level)
        interval = (max(float(lower), 0.0), float(upper) if upper < 1.0 else None)
    outside = not curve.measured[0] <= place <= curve.measured[1]
    return Threshold(rate, place, interval, extrapolated=outside)


def _crossing(grid: FloatArray, heights: FloatArray, rate: float) -> FloatArray:
    """First crossing of each row by linear interpolation, NaN where there is none, shape (n,)."""
    below = heights <= rate
    first = np.argmax(below, axis=1)
    rows = np.arange(len(heights))
    before = np.maximum(first - 1, 0)
    drop = heights[rows, before] - heights[rows, first]
    share = np.divide(heights[rows, before] - rate, drop, out=np.ones_like(drop), where=drop > 0.0)
    places = grid[before] + np.clip(share, 0.0, 1.0) * (grid[first] - grid[before])
    return np.where(below.any(axis=1), places, np.nan)
