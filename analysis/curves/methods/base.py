"""What a way of drawing a curve through binned answers has to offer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import numpy as np

from analysis.arrays import FloatArray
from analysis.curves.binning import BinRule
from analysis.curves.spline import SplineBasis

AnchorUse = Literal["soft", "hard", "none"]
#: Straight pieces by which curves that are no splines on the default knots are stored: areas within 1e-5.
DENSE_SEGMENTS = 400


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts at visual changes, in rising order.

    Parameters
    ----------
    v : ndarray, shape (m,)
        Mean visual change of each cell.
    correct, trials : ndarray, shape (m,) or (n, m)
        Right answers and answers; two-dimensional for a batch of resampled counts.
    clean, noise : bool
        Whether the first cell holds clean trials (v = 0), the last one trials on pure noise (v = 1).
    start_value, end_value : float or None
        Values at which the curve is held at 0 and 1.
    choices : float
        Labels between which the observer chose: 1 over the chance of a guess.
    """

    v: FloatArray
    correct: FloatArray
    trials: FloatArray
    clean: bool = False
    noise: bool = False
    start_value: float | None = None
    end_value: float | None = None
    choices: float = 16

    def resampled(self, correct: FloatArray, trials: FloatArray) -> Cells:
        """The same cells with a batch of other counts, shape (n, m)."""
        return replace(self, correct=correct, trials=trials)

    @property
    def rate(self) -> FloatArray:
        """Share of right answers, 0 where there is none; shape of ``trials``."""
        return np.divide(self.correct, self.trials, out=np.zeros_like(self.trials), where=self.trials > 0)


@dataclass(frozen=True, eq=False)
class ChosenFit:
    """The fit of one sample.

    Parameters
    ----------
    coefficients : ndarray, shape (K,)
        On the method's basis, non-increasing, in [0, 1].
    smoothness : float
        What the refits keep fixed; 0 where there is nothing to choose.
    effective_parameters, dispersion, deviance : float
    hint : Any
        Whatever lets the method refit faster.
    """

    coefficients: FloatArray
    smoothness: float
    effective_parameters: float
    dispersion: float
    deviance: float
    hint: Any = field(default=None, repr=False)


class CurveMethod(Protocol):
    """A way of drawing a falling curve through binned answers."""

    name: str
    #: What it is, in a sentence.
    title: str
    #: Where it comes from.
    source: str
    #: How answers are put into bins, when the caller does not say.
    bin_rule: BinRule
    n_bins: int
    #: Answers that a bin needs to count.
    smallest_bin: int
    #: Whether clean trials are observations, hold it at their rate, or cannot enter.
    anchors: AnchorUse

    def basis(self, segments: int | None, degree: int | None) -> SplineBasis:
        """The basis on which the curve is stored; None for the method's own numbers."""

    def fit(self, basis: SplineBasis, cells: Cells) -> ChosenFit:
        """Fit one sample."""

    def refit(self, basis: SplineBasis, cells: Cells, chosen: ChosenFit) -> FloatArray:
        """Coefficients of a batch of resampled counts, shape (n, K), at the smoothness of a fit."""


def dense_knots(basis: SplineBasis) -> FloatArray:
    """Visual changes at which a curve of straight pieces is stored, shape (K,)."""
    return np.linspace(0.0, 1.0, basis.size)


def falling(values: FloatArray) -> FloatArray:
    """Values along the last axis kept in [0, 1], and from rising by rounding errors."""
    return np.asarray(np.minimum.accumulate(np.clip(values, 0.0, 1.0), axis=-1), dtype=np.float64)
