"""Psychometric functions with a lapse rate: Weibull and logistic."""

from __future__ import annotations

from typing import Literal

import numpy as np

from analysis.arrays import FloatArray
from analysis.curves.binning import BinRule
from analysis.curves.methods.base import AnchorUse, Cells, ChosenFit, dense_knots, falling
from analysis.curves.methods.monotone import DenseMethod, described
from analysis.curves.spline import VARIANCE_FLOOR, SplineBasis, log_likelihood

Shape = Literal["weibull", "logistic"]

#: Limits of logit(height at 0), log(place), log(steepness), logit(floor / highest floor).
_LOWEST = np.array([-5.0, np.log(0.02), np.log(0.3), -7.0])
_HIGHEST = np.array([9.0, np.log(5.0), np.log(200.0), 7.0])
_STARTS = np.array(
    [[2.0, np.log(place), np.log(steep), 0.0] for place in (0.3, 0.6, 0.9, 1.3) for steep in (3.0, 12.0)]
)
_STEP = 1e-6
_ROUNDS = 60
_PRIOR = 1e-3


class Psychometric(DenseMethod):
    """``floor + (height - floor) S(v)``, with S(0) = 1 falling to 0.

    Weibull: ``S = exp(-(v / place)^steepness)``. Logistic: ``S`` proportional to ``1 / (1 + exp(steepness (v / place -
    1)))``. The height is 1 less the lapse rate; the floor lies between 0 and chance, since missed trials count as
    wrong.
    """

    bin_rule: BinRule = "equal"
    n_bins = 40
    smallest_bin = 1
    anchors: AnchorUse = "soft"
    source = "Wichmann and Hill (2001)"

    def __init__(self, shape: Shape) -> None:
        self.name = self.shape = shape
        self.title = f"{shape.capitalize()} psychometric function with a lapse rate, by maximum likelihood."

    def fit(self, basis: SplineBasis, cells: Cells) -> ChosenFit:
        """Fit one sample from eight starts and keep the likeliest."""
        starts = _clamped(_STARTS)
        batch = cells.resampled(
            *(np.broadcast_to(a, (len(starts), len(cells.v))) for a in (cells.correct, cells.trials))
        )
        thetas = self._maximise(batch, starts)
        chances = self._objective(batch, thetas)
        best = thetas[int(np.argmin(chances))]
        heights = falling(self._rates(dense_knots(basis), best[None], cells)[0])
        free = 4 - (cells.start_value is not None) - (cells.end_value is not None)
        return described(basis, cells, heights, float(free), hint=best)

    def refit(self, basis: SplineBasis, cells: Cells, chosen: ChosenFit) -> FloatArray:
        """Fit every row of the batch, from the fit of the sample on."""
        thetas = self._maximise(cells, np.broadcast_to(chosen.hint, (len(cells.trials), 4)).copy())
        return falling(self._rates(dense_knots(basis), thetas, cells))

    def _rates(self, v: FloatArray, thetas: FloatArray, cells: Cells) -> FloatArray:
        """Rates at visual changes of shape (m,) for parameters of shape (n, 4), shape (n, m)."""
        from scipy.special import expit

        place, steepness = np.exp(thetas[:, 1:2]), np.exp(thetas[:, 2:3])
        if self.shape == "weibull":
            with np.errstate(over="ignore"):
                fallen = np.exp(-np.minimum((v / place) ** steepness, 700.0))
        else:
            fallen = expit(steepness * (1.0 - v / place)) / expit(steepness)
        height = expit(thetas[:, :1]) if cells.start_value is None else np.full((len(thetas), 1), cells.start_value)
        if cells.end_value is None:
            floor = np.minimum(expit(thetas[:, 3:]) / cells.choices, height)
        else:
            floor = np.full((len(thetas), 1), cells.end_value)
        return np.asarray(floor + (height - floor) * fallen, dtype=np.float64)

    def _objective(self, cells: Cells, thetas: FloatArray) -> FloatArray:
        """Deviance (without its constant) of each row, with a faint pull that settles what answers leave open."""
        mean = self._rates(cells.v, thetas, cells)
        pull = _PRIOR * (thetas**2).sum(axis=1)
        return np.asarray(pull - 2.0 * log_likelihood(mean, cells.correct, cells.trials), dtype=np.float64)

    def _maximise(self, cells: Cells, thetas: FloatArray) -> FloatArray:
        """Fisher scoring with Levenberg's damping, all rows at once, within the limits."""
        n = len(thetas)
        damping, value = np.full(n, 1e-2), self._objective(cells, thetas)
        alive = np.arange(n)
        for _ in range(_ROUNDS):
            part = cells.resampled(cells.correct[alive], cells.trials[alive])
            here = thetas[alive]
            mean = self._rates(cells.v, here, cells)
            slopes = np.stack(
                [(self._rates(cells.v, here + _STEP * unit, cells) - mean) / _STEP for unit in np.eye(4)], axis=2
            )
            weight = part.trials / np.maximum(mean * (1.0 - mean), VARIANCE_FLOOR)
            weighted = slopes * weight[:, :, None]
            information = np.einsum("nmi,nmj->nij", weighted, slopes) + _PRIOR * np.eye(4)
            score = np.einsum("nmi,nm->ni", weighted, part.rate - mean) - _PRIOR * here
            diagonal = np.einsum("nii->ni", information)
            damped = information + np.eye(4) * (damping[alive, None] * diagonal)[:, :, None]
            proposal = _clamped(here + np.linalg.solve(damped, score[..., None])[..., 0])
            reached = self._objective(part, proposal)
            better = reached < value[alive]
            gain = np.where(better, value[alive] - reached, 0.0)
            thetas[alive[better]], value[alive[better]] = proposal[better], reached[better]
            damping[alive] = np.clip(np.where(better, damping[alive] / 5.0, damping[alive] * 8.0), 1e-9, 1e9)
            moving = (gain > 1e-9 * (1.0 + np.abs(value[alive]))) | (~better & (damping[alive] < 1e6))
            alive = alive[moving]
            if not len(alive):
                break
        return thetas


def _clamped(thetas: FloatArray) -> FloatArray:
    return np.clip(thetas, _LOWEST, _HIGHEST)
