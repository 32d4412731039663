"""The monotone penalised binomial spline: IRLS over many data sets at once, and the choice of its smoothness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import BoolArray, FloatArray
from analysis.curves.basis import SplineBasis, steps_to_coefficients
from analysis.curves.goodness import VARIANCE_FLOOR, effective_parameters, log_likelihood, pearson_dispersion
from analysis.curves.solver import solve_steps

#: Smoothness values that are tried: half decades.
SMOOTHNESS_GRID: tuple[float, ...] = tuple(float(10.0 ** (k / 2.0)) for k in range(-10, 5))
#: Over-dispersion below this value is taken for noise.
DISPERSION_USED_FROM = 1.1
_MAX_STEPS = 40
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class BinnedFits:
    """Fits of a batch: one row a data set."""

    steps: FloatArray
    free: BoolArray
    fitted: FloatArray
    log_likelihood: FloatArray

    @property
    def coefficients(self) -> FloatArray:
        """Spline coefficients, shape (n, K), non-increasing along the last axis."""
        return steps_to_coefficients(self.steps)


@dataclass(frozen=True, eq=False)
class SelectedFit:
    """The fit of one data set at the smoothness that the criterion chose."""

    coefficients: FloatArray
    fitted: FloatArray
    smoothness: float
    effective_parameters: float
    dispersion: float
    deviance: float


def fit_binned(
    basis: SplineBasis,
    design: FloatArray,
    correct: FloatArray,
    trials: FloatArray,
    smoothness: FloatArray | float,
    *,
    start_value: float | None = None,
    end_value: float | None = None,
    start: FloatArray | None = None,
    falling: BoolArray | None = None,
    reweightings: int = _MAX_STEPS,
) -> BinnedFits:
    """Fit monotone curves to a batch of binned outcomes that share their abscissae.

    Parameters
    ----------
    basis : SplineBasis
    design : ndarray, shape (m, K)
        ``basis.step_design`` at the abscissae of the m cells.
    correct, trials : ndarray, shape (n, m)
        Correct answers (may be fractional) and trials per cell; cells without trials carry no weight.
    smoothness : float or ndarray, shape (n,)
        Penalty weight lambda.
    start_value : float, optional
        Hard anchor: the value of s(0).
    end_value : float, optional
        Hard anchor: the value of s(1), below ``start_value``.
    start : ndarray, shape (m,), optional
        Fitted values to start from (warm start).
    falling : ndarray of bool, shape (K,), optional
        Guess of the steps above zero (warm start of the inner solver).
    reweightings : int
        Largest number of weighted least-squares fits; by default until nothing moves.

    Returns
    -------
    BinnedFits

    Notes
    -----
    Minimises ``-sum_j [x_j log s_j + (n_j - x_j) log(1 - s_j)] + (lambda / 2) int s''(v)^2 dv`` under
    ``1 >= beta_0 >= ... >= beta_{K-1} >= 0``. Iteratively reweighted least squares with
    ``w_j = n_j / max(s_j (1 - s_j), 1e-3)``; the working response of the identity link is the rate itself; a step that
    would raise the objective is halved.
    """
    members, cells = trials.shape
    size = basis.size
    penalty_weight = np.broadcast_to(np.asarray(smoothness, dtype=np.float64), (members,))
    rate = np.divide(correct, trials, out=np.zeros_like(trials), where=trials > 0)
    products = (design[:, :, None] * design[:, None, :]).reshape(cells, size * size)
    step_penalty = basis.step_penalty
    penalty_flat = step_penalty.reshape(-1)

    mean = (correct + 0.5) / (trials + 1.0) if start is None else np.broadcast_to(start, (members, cells)).copy()
    steps = np.zeros((members, size))
    free = np.ones((members, size), dtype=bool)
    if falling is not None:
        free &= falling
    objective = np.full(members, np.inf)
    alive = np.arange(members)
    for iteration in range(reweightings):
        x, n, lam = correct[alive], trials[alive], penalty_weight[alive]
        weights = n / np.maximum(mean[alive] * (1.0 - mean[alive]), VARIANCE_FLOOR)
        gram = weights @ products
        gram += lam[:, None] * penalty_flat
        gram = gram.reshape(-1, size, size)
        # A ridge far below the data decides where neither data nor penalty do (a single occupied bin).
        diagonal = np.einsum("nkk->nk", gram)
        diagonal += 1e-11 * diagonal.max(axis=1, keepdims=True)
        target = (weights * rate[alive]) @ design
        proposal, free_now = _solve(gram, target, free[alive], start_value, end_value)
        if iteration:
            accepted, value = _damped(proposal, steps[alive], objective[alive], design, step_penalty, x, n, lam)
        else:
            accepted = proposal
            value = _objective(proposal, design, step_penalty, x, n, lam)
        previous = objective[alive]
        steps[alive], free[alive], objective[alive] = accepted, free_now, value
        mean[alive] = np.clip(accepted @ design.T, 0.0, 1.0)
        with np.errstate(invalid="ignore"):
            moving = ~(np.abs(previous - value) <= _TOLERANCE * (1.0 + np.abs(value)))
        alive = alive[moving]
        if not len(alive):
            break
    return BinnedFits(steps, free, mean, log_likelihood(mean, correct, trials))


def select_smoothness(
    basis: SplineBasis,
    design: FloatArray,
    correct: FloatArray,
    trials: FloatArray,
    *,
    start_value: float | None = None,
    end_value: float | None = None,
) -> SelectedFit:
    """Fit one data set at every smoothness of the grid and keep the smallest AIC.

    Parameters
    ----------
    basis, design, start_value, end_value
        As in `fit_binned`.
    correct, trials : ndarray, shape (m,)
        Outcomes of one data set.

    Returns
    -------
    SelectedFit

    Notes
    -----
    Criterion ``deviance / phi + 2 edf``. phi is Pearson's statistic over its degrees of freedom at the first choice,
    used when it exceeds 1.1 (answers to one picture resemble each other).
    """
    used = trials > 0
    design, correct, trials = design[used], correct[used], trials[used]
    grid = np.asarray(SMOOTHNESS_GRID)
    shape = (len(grid), len(trials))
    fits = fit_binned(
        basis,
        design,
        np.broadcast_to(correct, shape),
        np.broadcast_to(trials, shape),
        grid,
        start_value=start_value,
        end_value=end_value,
    )
    deviance = 2.0 * (log_likelihood(correct / trials, correct, trials) - fits.log_likelihood)
    edf = np.array(
        [
            effective_parameters(
                basis, design, trials, fits.fitted[k], fits.free[k], fits.steps[k], float(grid[k]), start_value
            )
            for k in range(len(grid))
        ]
    )
    best = int(np.argmin(deviance + 2.0 * edf))
    dispersion = pearson_dispersion(correct, trials, fits.fitted[best], float(edf[best]))
    if dispersion > DISPERSION_USED_FROM:
        best = int(np.argmin(deviance / dispersion + 2.0 * edf))
    return SelectedFit(
        coefficients=fits.coefficients[best],
        fitted=fits.fitted[best],
        smoothness=float(grid[best]),
        effective_parameters=float(edf[best]),
        dispersion=dispersion,
        deviance=float(max(deviance[best], 0.0)),
    )


def _solve(
    gram: FloatArray, target: FloatArray, free: BoolArray, start_value: float | None, end_value: float | None
) -> tuple[FloatArray, BoolArray]:
    """Inner problem; a value at the end fixes the last step, and the others have the rest of the sum."""
    if end_value is None:
        return solve_steps(gram, target, total=start_value, passive=free)
    rest, falling = solve_steps(
        np.ascontiguousarray(gram[:, :-1, :-1]),
        target[:, :-1] - gram[:, :-1, -1] * end_value,
        total=None if start_value is None else start_value - end_value,
        most=1.0 - end_value,
        passive=free[:, :-1],
    )
    last = np.full((len(gram), 1), end_value)
    return np.hstack([rest, last]), np.hstack([falling, np.zeros((len(gram), 1), dtype=bool)])


def _objective(
    steps: FloatArray, design: FloatArray, penalty: FloatArray, correct: FloatArray, trials: FloatArray, lam: FloatArray
) -> FloatArray:
    """Penalised deviance of each member, shape (n,)."""
    mean = np.clip(steps @ design.T, 0.0, 1.0)
    roughness = np.einsum("nk,nk->n", steps @ penalty, steps)
    return np.asarray(-2.0 * log_likelihood(mean, correct, trials) + lam * roughness, dtype=np.float64)


def _damped(
    proposal: FloatArray,
    current: FloatArray,
    current_value: FloatArray,
    design: FloatArray,
    penalty: FloatArray,
    correct: FloatArray,
    trials: FloatArray,
    lam: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Take the full step, or the largest halving of it that does not raise the objective; else stay."""
    accepted = proposal
    value = _objective(proposal, design, penalty, correct, trials, lam)
    length = 1.0
    for _ in range(6):
        worse = value > current_value
        if not worse.any():
            return accepted, value
        length /= 2.0
        accepted = accepted.copy()
        accepted[worse] = current[worse] + length * (proposal[worse] - current[worse])
        value = value.copy()
        value[worse] = _objective(accepted[worse], design, penalty, correct[worse], trials[worse], lam[worse])
    worse = value > current_value
    accepted[worse], value[worse] = current[worse], current_value[worse]
    return accepted, value
