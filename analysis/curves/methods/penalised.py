"""The default: monotone penalised binomial B-spline."""

from __future__ import annotations

import numpy as np

from analysis.arrays import FloatArray
from analysis.curves.basis import SplineBasis, spline_basis
from analysis.curves.binning import BinRule
from analysis.curves.methods.base import AnchorUse, Cells, ChosenFit, falling
from analysis.curves.spline import fit_binned, select_smoothness

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
