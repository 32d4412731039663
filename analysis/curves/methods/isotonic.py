"""Pooled adjacent violators, joined by a monotone cubic."""

from __future__ import annotations

import numpy as np

from analysis.arrays import FloatArray
from analysis.curves.basis import SplineBasis
from analysis.curves.binning import BinRule
from analysis.curves.methods.base import AnchorUse, Cells, ChosenFit, dense_knots, falling
from analysis.curves.methods.dense import DenseMethod, described


class Isotonic(DenseMethod):
    """Blocks of pooled bins at their mean visual change, PCHIP between them, level beyond."""

    name = "isotonic"
    title = "Isotonic regression of the bins, blocks joined by a monotone cubic (PCHIP)."
    source = "Barlow et al. (1972); Fritsch and Carlson (1980)"
    bin_rule: BinRule = "equal"
    n_bins = 40
    smallest_bin = 1
    anchors: AnchorUse = "soft"

    def fit(self, basis: SplineBasis, cells: Cells) -> ChosenFit:
        """Fit one sample; the effective parameters are its blocks."""
        knots = dense_knots(basis)
        heights, blocks = _curve(knots, cells.v, cells.rate, cells.trials, cells.start_value, cells.end_value)
        return described(basis, cells, heights, float(blocks))

    def refit(self, basis: SplineBasis, cells: Cells, chosen: ChosenFit) -> FloatArray:
        """Fit every row of the batch."""
        knots = dense_knots(basis)
        rows = zip(cells.rate, cells.trials, strict=True)
        return np.array(
            [_curve(knots, cells.v, rate, trials, cells.start_value, cells.end_value)[0] for rate, trials in rows]
        )


def _curve(
    knots: FloatArray,
    v: FloatArray,
    rate: FloatArray,
    trials: FloatArray,
    start_value: float | None,
    end_value: float | None,
) -> tuple[FloatArray, int]:
    """Heights at the knots, and the number of blocks."""
    from scipy.interpolate import PchipInterpolator
    from scipy.optimize import isotonic_regression

    used = trials > 0
    v, rate, trials = v[used], rate[used], trials[used]
    pooled = isotonic_regression(rate, weights=trials, increasing=False)
    starts = np.asarray(pooled.blocks[:-1], dtype=np.int64)
    weight = np.add.reduceat(trials, starts)
    places, levels = np.add.reduceat(trials * v, starts) / weight, np.asarray(pooled.x)[starts]
    blocks = len(starts)
    if start_value is not None:
        inner = places > 0.0
        places, levels = np.append(0.0, places[inner]), np.append(start_value, np.minimum(levels[inner], start_value))
    if end_value is not None:
        inner = places < 1.0
        places, levels = np.append(places[inner], 1.0), np.append(np.maximum(levels[inner], end_value), end_value)
    if len(places) == 1:
        return np.full(len(knots), levels[0]), blocks
    joined = PchipInterpolator(places, levels)(np.clip(knots, places[0], places[-1]))
    return falling(joined), blocks
