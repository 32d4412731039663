"""The program that accompanies VCR, bug for bug: for replication only."""

from __future__ import annotations

import warnings

import numpy as np

from analysis.arrays import FloatArray
from analysis.curves.basis import SplineBasis
from analysis.curves.binning import BinRule
from analysis.curves.methods.base import AnchorUse, Cells, ChosenFit, dense_knots, falling
from analysis.curves.methods.dense import DenseMethod, described

_SMOOTHING = 0.04
_POINTS = 10_000


class AuthorsProgram(DenseMethod):
    """Bins open at both ends at their left edges, empty ones counted as 0, least squares, then a running minimum.

    Biased on purpose: one empty bin ruins the curve, and noise pulls it down. Nothing in it reads the number of
    answers of a bin.
    """

    name = "paper-code"
    title = (
        "The authors' program: least-squares spline of bin rates, clipped, then a running minimum. Replication only."
    )
    source = "program of VCR; differs from its section 3.2"
    bin_rule: BinRule = "open"
    n_bins = 20
    smallest_bin = 0
    anchors: AnchorUse = "none"

    def fit(self, basis: SplineBasis, cells: Cells) -> ChosenFit:
        """Fit one sample."""
        heights, parameters = _program(dense_knots(basis), cells.v, cells.rate)
        return described(basis, cells, heights, float(parameters), smoothness=_SMOOTHING)

    def refit(self, basis: SplineBasis, cells: Cells, chosen: ChosenFit) -> FloatArray:
        """Fit every row of the batch."""
        return np.array([_program(dense_knots(basis), cells.v, rate)[0] for rate in cells.rate])


def _program(knots: FloatArray, edges: FloatArray, rate: FloatArray) -> tuple[FloatArray, int]:
    """Heights at the knots, and the number of coefficients of the spline before it is bent down."""
    from scipy.interpolate import UnivariateSpline

    grid = np.linspace(0.0, 0.9999, _POINTS)
    with warnings.catch_warnings():
        # FITPACK tells that s could not be reached exactly; the program goes on, too.
        warnings.simplefilter("ignore", UserWarning)
        smooth = UnivariateSpline(edges, rate, s=_SMOOTHING)
    return np.interp(knots, grid, falling(smooth(grid))), len(smooth.get_coeffs())
