"""Where a curve was measured, where it was not, and what its area could be there."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from analysis.curves.anchoring import Sample
from analysis.curves.basis import SplineBasis
from analysis.curves.binning import Bin, Binning
from analysis.curves.curve import CurveConfig

FloatArray = NDArray[np.float64]
Range = tuple[float, float]


def measured_range(sample: Sample, bins: tuple[Bin, ...], config: CurveConfig) -> Range:
    """Range from the first to the last occupied bin; an anchor measures 0, trials on noise measure 1.

    A right anchor that is assumed (chance) measures nothing.
    """
    binning = Binning(config.n_bins, config.bin_rule)
    lower = 0.0 if sample.left.kind != "none" else binning.edges(bins[0].index)[0]
    return lower, 1.0 if sample.noise is not None else binning.edges(bins[-1].index)[1]


def area_bounds(
    basis: SplineBasis,
    coefficients: FloatArray,
    bins: tuple[Bin, ...],
    config: CurveConfig,
    sample: Sample,
) -> Range:
    """Smallest and largest area of falling curves that agree with this one where it is measured.

    Parameters
    ----------
    basis : SplineBasis
    coefficients : ndarray, shape (K,)
    bins : tuple of Bin
        The occupied bins.
    config : CurveConfig
    sample : Sample

    Returns
    -------
    tuple of float
        Both within [0, 1], around the area of the curve.

    Notes
    -----
    Before the measured range the curve lies between its value at the start and 1, after it between its value at the end
    and 0 (or the right anchor); across empty bins in between, between its values on both sides.
    """
    binning = Binning(config.n_bins, config.bin_rule)
    lower, upper = measured_range(sample, bins, config)
    held = sample.right.value if sample.right.kind == "fixed" else None
    covered = [(lower, lower), *(binning.edges(one.index) for one in bins), (upper, upper)]
    gaps = [(one[1], two[0]) for one, two in pairwise(covered) if two[0] > one[1] + 1e-12]
    ends = np.array([lower, upper, *(edge for gap in gaps for edge in gap)])
    heights = np.clip(basis.design(ends) @ coefficients, 0.0, 1.0)
    first, last = float(heights[0]), float(heights[1])
    area = float(np.clip(basis.integrals @ coefficients, 0.0, 1.0))
    inside = float(basis.integral_design(lower, upper) @ coefficients)
    smallest = inside + lower * first + (1.0 - upper) * min(held or 0.0, last)
    largest = inside + lower + (1.0 - upper) * last
    for (start, end), (high, low) in zip(gaps, heights[2:].reshape(-1, 2), strict=True):
        across = float(basis.integral_design(start, end) @ coefficients)
        smallest -= across - (end - start) * float(low)
        largest += (end - start) * float(high) - across
    return min(max(smallest, 0.0), area), max(min(largest, 1.0), area)
