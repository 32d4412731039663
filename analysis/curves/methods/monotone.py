"""Monotone ways through binned answers: the penalised spline, which is the default, and pooled adjacent violators."""

from __future__ import annotations

import numpy as np

from analysis.arrays import FloatArray
from analysis.curves.binning import BinRule
from analysis.curves.methods.base import DENSE_SEGMENTS, AnchorUse, Cells, ChosenFit, dense_knots, falling
from analysis.curves.spline import (
    SplineBasis,
    fit_binned,
    log_likelihood,
    pearson_dispersion,
    select_smoothness,
    spline_basis,
)
from analysis.errors import InvalidInput


class DenseMethod:
    """Stored on 400 straight pieces."""

    name: str

    def basis(self, segments: int | None, degree: int | None) -> SplineBasis:
        """The one basis of such curves.

        Raises
        ------
        InvalidInput
            If another one is asked for.
        """
        if (segments, degree) not in ((None, None), (DENSE_SEGMENTS, 1)):
            raise InvalidInput(f"Segments and degree belong to the method spline; {self.name} has none to choose.")
        return spline_basis(DENSE_SEGMENTS, 1)


def described(
    basis: SplineBasis,
    cells: Cells,
    heights: FloatArray,
    parameters: float,
    *,
    smoothness: float = 0.0,
    hint: object = None,
) -> ChosenFit:
    """A fit with its deviance and dispersion, from heights at the knots, shape (K,)."""
    used = cells.trials > 0
    mean = np.interp(cells.v, np.linspace(0.0, 1.0, basis.size), heights)[used]
    correct, trials = cells.correct[used], cells.trials[used]
    deviance = 2.0 * float(log_likelihood(correct / trials, correct, trials) - log_likelihood(mean, correct, trials))
    return ChosenFit(
        heights, smoothness, parameters, pearson_dispersion(correct, trials, mean, parameters), max(deviance, 0.0), hint
    )


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


#: Smaller falls of the fit are rounding errors of none.
_FALLING = 1e-9


class PenalisedSpline:
    """Degree 3, 20 segments, smoothness by AIC with over-dispersion."""

    name = "spline"
    title = "Monotone penalised binomial B-spline; smoothness by AIC."
    source = "Eilers and Marx (1996), with non-negative steps"
    bin_rule: BinRule = "equal"
    n_bins = 40
    smallest_bin = 1
    anchors: AnchorUse = "soft"

    def basis(self, segments: int | None, degree: int | None) -> SplineBasis:
        """Cubic on 20 segments unless told otherwise."""
        return spline_basis(20 if segments is None else segments, 3 if degree is None else degree)

    def fit(self, basis: SplineBasis, cells: Cells) -> ChosenFit:
        """Fit one sample at every smoothness of the grid and keep the smallest AIC."""
        chosen = select_smoothness(
            basis,
            basis.step_design(cells.v),
            cells.correct,
            cells.trials,
            start_value=cells.start_value,
            end_value=cells.end_value,
        )
        return ChosenFit(
            falling(chosen.coefficients),
            chosen.smoothness,
            chosen.effective_parameters,
            chosen.dispersion,
            chosen.deviance,
            hint=(chosen.fitted, np.append(-np.diff(chosen.coefficients), chosen.coefficients[-1]) > _FALLING),
        )

    def refit(self, basis: SplineBasis, cells: Cells, chosen: ChosenFit) -> FloatArray:
        """Refit at the chosen smoothness, from the chosen fit on."""
        start, falls = chosen.hint
        fits = fit_binned(
            basis,
            basis.step_design(cells.v),
            cells.correct,
            cells.trials,
            chosen.smoothness,
            start_value=cells.start_value,
            end_value=cells.end_value,
            start=start,
            falling=falls,
        )
        return np.clip(fits.coefficients, 0.0, 1.0)
