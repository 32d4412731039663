"""The published curve: a monotone quantile smoothing spline, and the program that accompanies VCR, bug for bug."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray
from analysis.curves.binning import BinRule
from analysis.curves.methods.base import AnchorUse, Cells, ChosenFit, dense_knots, falling
from analysis.curves.methods.monotone import DenseMethod, described
from analysis.curves.spline import SplineBasis
from analysis.errors import FitError

#: Weights of the roughness that are tried.
ROUGHNESS_GRID: tuple[float, ...] = tuple(float(10.0 ** (k / 2.0)) for k in range(-8, 3))
_ON_THE_CURVE = 1e-7


class PublishedSpline(DenseMethod):
    """Median of the bins' rates, total variation of the slope as roughness, never rising, held at clean accuracy."""

    name = "paper"
    title = "Monotone quantile smoothing spline of the bins' rates, by linear programming, as published."
    source = "VCR section 3.2; Koenker, Ng and Portnoy (1994), Biometrika 81, 673-680"
    bin_rule: BinRule = "paper"
    n_bins = 40
    smallest_bin = 20
    anchors: AnchorUse = "hard"

    def fit(self, basis: SplineBasis, cells: Cells) -> ChosenFit:
        """Choose the roughness by Schwarz's criterion, as section 4 of Koenker, Ng and Portnoy."""
        program = _Program(cells, basis)
        best: tuple[float, float, int, FloatArray] | None = None
        for roughness in ROUGHNESS_GRID:
            heights, residuals = program.solve(cells.rate, cells.trials, roughness)
            interpolated = int((np.abs(residuals) < _ON_THE_CURVE).sum())
            number = len(residuals)
            loss = max(float(np.abs(residuals).mean()), _ON_THE_CURVE)
            criterion = float(np.log(loss)) + 0.5 * interpolated * float(np.log(number)) / number
            if best is None or criterion < best[0]:
                best = criterion, roughness, interpolated, heights
        assert best is not None  # noqa: S101  the grid is not empty
        return described(basis, cells, best[3], float(best[2]), smoothness=best[1])

    def refit(self, basis: SplineBasis, cells: Cells, chosen: ChosenFit) -> FloatArray:
        """Solve the program of every row at the chosen roughness."""
        program = _Program(cells, basis)
        rows = zip(cells.rate, cells.trials, strict=True)
        return np.array([program.solve(rate, trials, chosen.smoothness)[0] for rate, trials in rows])


class _Program:
    """The linear program over heights at the cells and at both ends; only its right-hand side changes.

    Unknowns: heights g, residuals u - w = rate - g (u, w >= 0), changes of slope within +-t.
    """

    def __init__(self, cells: Cells, basis: SplineBasis) -> None:
        self.bins = slice(1 if cells.clean else 0, len(cells.v) - (1 if cells.noise else 0))
        inner = cells.v[self.bins]
        self.cells, self.knots = cells, dense_knots(basis)
        self.place = np.unique(np.concatenate([[0.0], inner, [1.0]]))
        self.at = np.searchsorted(self.place, inner)
        self._built: dict[bytes, tuple[Any, Any]] = {}

    def solve(self, rate: FloatArray, trials: FloatArray, roughness: float) -> tuple[FloatArray, FloatArray]:
        """Heights at the knots of the basis, and the residuals of the occupied bins."""
        from scipy.optimize import linprog

        rates, used = rate[self.bins], trials[self.bins] > 0
        rates, at = rates[used], self.at[used]
        size, bins = len(self.place), len(rates)
        change = size - 2
        limits, residual = self._constraints(used)
        heights = [(0.0, 1.0)] * size
        start, end = self.cells.start_value, self.cells.end_value
        if self.cells.clean and trials[0] > 0:
            start = float(rate[0])
        if self.cells.noise and trials[-1] > 0:
            end = float(rate[-1]) if start is None else min(float(rate[-1]), start)
        if start is not None:
            heights[0] = (start, start)
        if end is not None:
            heights[-1] = (end, end)
        found: Any = linprog(
            np.concatenate([np.zeros(size), np.full(2 * bins, 0.5), np.full(change, roughness)]),
            A_ub=limits,
            b_ub=np.zeros(limits.shape[0]),
            A_eq=residual,
            b_eq=rates,
            bounds=heights + [(0.0, None)] * (2 * bins + change),
            method="highs",
        )
        if found.status != 0:
            raise FitError(f"The program of the quantile spline has no solution: {found.message}")
        curve = np.asarray(found.x[:size], dtype=np.float64)
        return falling(np.interp(self.knots, self.place, curve)), rates - curve[at]

    def _constraints(self, used: NDArray[np.bool_]) -> tuple[Any, Any]:
        """Slopes and their changes, and residuals, where these bins hold answers; built once each."""
        from scipy.sparse import csr_array, eye_array, hstack, vstack

        key = used.tobytes()
        if key in self._built:
            return self._built[key]
        at, width, size, bins = self.at[used], np.diff(self.place), len(self.place), int(used.sum())
        slopes = csr_array(
            (
                np.concatenate([-1.0 / width, 1.0 / width]),
                (np.tile(np.arange(size - 1), 2), np.concatenate([np.arange(size - 1), np.arange(1, size)])),
            ),
            shape=(size - 1, size),
        )
        bends = slopes[1:] - slopes[:-1]
        change = size - 2
        pick = csr_array((np.ones(bins), (np.arange(bins), at)), shape=(bins, size))
        residual = hstack([pick, eye_array(bins), -eye_array(bins), csr_array((bins, change))])
        empty = csr_array((change, 2 * bins))
        limits = vstack(
            [
                hstack([bends, empty, -eye_array(change)]),
                hstack([-bends, empty, -eye_array(change)]),
                hstack([slopes, csr_array((size - 1, 2 * bins + change))]),
            ]
        )
        self._built[key] = limits, residual
        return limits, residual


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
