"""The visual change at which performance has fallen to a given rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import FloatArray


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


def first_crossing(grid: FloatArray, heights: FloatArray, rate: float) -> FloatArray:
    """First crossing of each row by linear interpolation, NaN where there is none, shape (n,)."""
    below = heights <= rate
    first = np.argmax(below, axis=1)
    rows = np.arange(len(heights))
    before = np.maximum(first - 1, 0)
    drop = heights[rows, before] - heights[rows, first]
    share = np.divide(heights[rows, before] - rate, drop, out=np.ones_like(drop), where=drop > 0.0)
    places = grid[before] + np.clip(share, 0.0, 1.0) * (grid[first] - grid[before])
    return np.where(below.any(axis=1), places, np.nan)
