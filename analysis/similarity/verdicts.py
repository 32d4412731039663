"""Three words for a pair of corruptions: the correction for asking about many, and the overlap rule of the papers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.arrays import FloatArray
from analysis.claims.corruptions import Verdict
from analysis.curves.bands import Bands
from analysis.curves.config import OVERLAP_LEVEL
from analysis.curves.curve import CurveFit
from analysis.errors import BandsMissing, InvalidInput


def verdict_of(*, equivalent: bool, different: bool) -> Verdict:
    """Shown to be equivalent wins over shown to differ (the difference is then within the margin); else undecided."""
    if equivalent:
        return "equivalent"
    return "different" if different else "undecided"


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that rejecting below a level keeps the chance of any false rejection at that level.

    Parameters
    ----------
    p_values : sequence of float
        In [0, 1], one a test.

    Returns
    -------
    list of float
        Adjusted values in the order given.

    Raises
    ------
    InvalidInput
        If a value is no probability.

    Notes
    -----
    Holm (1979), Scand. J. Statist. 6, 65-70.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not np.all((p >= 0.0) & (p <= 1.0)):
        raise InvalidInput("P-values lie in [0, 1].")
    from statsmodels.stats.multitest import multipletests

    return [float(value) for value in multipletests(p, method="holm")[1]]


def bands_overlap(first: CurveFit, second: CurveFit, grid: FloatArray, *, simultaneous: bool) -> bool:
    """Whether the 83 % bands of two curves meet at every visual change of a grid.

    Parameters
    ----------
    first, second : CurveFit
    grid : ndarray, shape (n,)
        Visual changes in [0, 1].
    simultaneous : bool
        Bands that hold whole curves, or (as printed) at each visual change on its own.

    Raises
    ------
    BandsMissing
        If a curve was fitted without bootstrap.
    InvalidInput
        If a simultaneous band is of another level.

    Notes
    -----
    VCR section 5. Intervals of level 0.834 of two independent estimates of equal precision just touch when their
    difference has p = 0.05 (Goldstein and Healy 1995; Payton, Greenstone and Schenker 2003).
    """
    edges = []
    for curve in (first, second):
        bands = curve.bands
        if bands is None:
            raise BandsMissing
        lower, upper = _band_83(bands, simultaneous=simultaneous)
        edges.append((np.interp(grid, bands.v, lower), np.interp(grid, bands.v, upper)))
    (low_one, high_one), (low_two, high_two) = edges
    return bool(np.all((low_one <= high_two) & (low_two <= high_one)))


def _band_83(bands: Bands, *, simultaneous: bool) -> tuple[FloatArray, FloatArray]:
    if not simultaneous:
        return bands.pointwise(OVERLAP_LEVEL)
    if abs(bands.simultaneous_level - OVERLAP_LEVEL) > 1e-9:
        raise InvalidInput(
            f"The overlap rule reads simultaneous bands of level {OVERLAP_LEVEL}; one was fitted at "
            f"{bands.simultaneous_level}: leave simultaneous_level out."
        )
    return bands.simultaneous_lower, bands.simultaneous_upper
