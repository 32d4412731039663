"""The monotone penalised binomial spline: its basis, IRLS over many data sets at once, its smoothness, and its fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import BoolArray, FloatArray
from analysis.curves.solver import solve_steps
from analysis.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class SplineBasis:
    """Clamped B-splines of one degree on equal segments of [0, 1].

    A curve is ``s(v) = sum_k beta_k B_k(v)``. Its *steps* ``d`` (``beta_k = sum_{j >= k} d_j``) are the falls from one
    coefficient to the next, and last the floor ``beta_{K-1}``: the curve is non-increasing and non-negative when all
    steps are non-negative, and ``s(0) = beta_0 = sum(d)``.

    Parameters
    ----------
    segments : int
        Number of equal segments of [0, 1], at least 1.
    degree : int
        Polynomial degree, 1 to 3; straight pieces (degree 1) have no roughness penalty.

    Notes
    -----
    The non-increasing coefficients are sufficient for a non-increasing curve (variation diminishing property; de Boor,
    A Practical Guide to Splines, ch. XI).
    """

    segments: int = 20
    degree: int = 3
    #: Knots, shape (segments + 2 degree + 1,).
    knots: FloatArray = field(init=False, repr=False)
    #: Integral of the squared second derivative as a quadratic form in the steps, shape (K, K).
    step_penalty: FloatArray = field(init=False, repr=False)
    #: The same form in the coefficients, shape (K, K).
    penalty: FloatArray = field(init=False, repr=False)
    #: Integral of every B-spline over [0, 1], shape (K,).
    integrals: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.segments < 1 or self.degree not in (1, 2, 3):
            raise InvalidInput("A spline basis needs at least one segment and degree 1, 2 or 3.")
        inner = np.linspace(0.0, 1.0, self.segments + 1)
        knots = np.concatenate([np.zeros(self.degree), inner, np.ones(self.degree)])
        object.__setattr__(self, "knots", knots)
        object.__setattr__(
            self, "integrals", (knots[self.degree + 1 :] - knots[: -self.degree - 1]) / (self.degree + 1)
        )
        penalty = self._roughness() if self.degree > 1 else np.zeros((self.size, self.size))
        object.__setattr__(self, "penalty", penalty)
        cumulative = np.triu(np.ones((self.size, self.size)))
        object.__setattr__(self, "step_penalty", cumulative.T @ penalty @ cumulative)
        for array in (self.knots, self.integrals, self.penalty, self.step_penalty):
            array.setflags(write=False)

    @property
    def size(self) -> int:
        """Number of coefficients, segments + degree."""
        return self.segments + self.degree

    def design(self, visual_change: ArrayLike) -> FloatArray:
        """Values of all B-splines, shape (n, K), at visual changes in [0, 1], shape (n,)."""
        from scipy.interpolate import BSpline

        points = np.clip(np.atleast_1d(np.asarray(visual_change, dtype=np.float64)), 0.0, 1.0)
        return np.asarray(BSpline.design_matrix(points, self.knots, self.degree).toarray(), dtype=np.float64)

    def step_design(self, visual_change: ArrayLike) -> FloatArray:
        """Values of the curve per unit of each step, shape (n, K): non-increasing functions of visual change."""
        return np.cumsum(self.design(visual_change), axis=1)

    def integral_design(self, lower: float, upper: float) -> FloatArray:
        """Integral of every B-spline from ``lower`` to ``upper`` (within [0, 1]), exact, shape (K,)."""
        from scipy.interpolate import BSpline

        ends = np.clip([lower, upper], 0.0, 1.0)
        antiderivative = BSpline(self.knots, np.eye(self.size), self.degree).antiderivative()
        values = np.asarray(antiderivative(ends), dtype=np.float64)
        return np.asarray(values[1] - values[0], dtype=np.float64)

    def _roughness(self) -> FloatArray:
        """Gauss-Legendre per segment, exact for the product of two second derivatives."""
        from scipy.interpolate import BSpline

        nodes, node_weights = np.polynomial.legendre.leggauss(self.degree + 1)
        width = 1.0 / self.segments
        left = np.arange(self.segments)[:, None] * width
        points = (left + (nodes + 1.0) * width / 2.0).ravel()
        quadrature = np.tile(node_weights * width / 2.0, self.segments)
        curvature = BSpline(self.knots, np.eye(self.size), self.degree).derivative(2)(points)
        return np.asarray((curvature * quadrature[:, None]).T @ curvature, dtype=np.float64)


@lru_cache(maxsize=16)
def spline_basis(segments: int = 20, degree: int = 3) -> SplineBasis:
    """Return the one shared basis of this shape (built once per process)."""
    return SplineBasis(segments, degree)


def steps_to_coefficients(steps: FloatArray) -> FloatArray:
    """Coefficients from steps along the last axis: each is the sum of its own and all later steps."""
    return np.cumsum(steps[..., ::-1], axis=-1)[..., ::-1]


#: Floor of s(1 - s) in weights.
VARIANCE_FLOOR = 1e-3


def log_likelihood(mean: FloatArray, correct: FloatArray, trials: FloatArray) -> FloatArray:
    """Binomial log-likelihood without its constant, summed over the last axis."""
    floor = 1e-12  # A rate of exactly 0 or 1 against an observation costs much, but not infinitely much.
    right = np.where(correct > 0, correct * np.log(np.maximum(mean, floor)), 0.0)
    wrong_count = trials - correct
    wrong = np.where(wrong_count > 1e-12, wrong_count * np.log(np.maximum(1.0 - mean, floor)), 0.0)
    return np.asarray((right + wrong).sum(axis=-1), dtype=np.float64)


def effective_parameters(
    basis: SplineBasis,
    design: FloatArray,
    trials: FloatArray,
    mean: FloatArray,
    free: BoolArray,
    steps: FloatArray,
    smoothness: float,
    start_value: float | None,
) -> float:
    """Trace of the smoother on the face of the active constraints (steps at zero and a fixed sum taken out)."""
    face = np.eye(basis.size)[:, free & (steps > 1e-9)]
    if not face.shape[1]:
        return 0.0
    held = start_value is not None or float(steps.sum()) >= 1.0 - 1e-12
    if held:
        ones = face.sum(axis=0)
        face = face @ _null_space(ones)
        if not face.shape[1]:
            return 0.0
    weights = trials / np.maximum(mean * (1.0 - mean), VARIANCE_FLOOR)
    reduced = design @ face
    information = reduced.T @ (weights[:, None] * reduced)
    penalised = information + smoothness * face.T @ basis.step_penalty @ face
    penalised += 1e-11 * np.trace(penalised) * np.eye(len(penalised))
    return float(np.trace(np.linalg.solve(penalised, information)))


def _null_space(row: FloatArray) -> FloatArray:
    """Orthonormal basis of the vectors that a single row maps to zero, shape (p, p - 1)."""
    return np.asarray(np.linalg.svd(row[None, :])[2][1:].T, dtype=np.float64)


def pearson_dispersion(correct: FloatArray, trials: FloatArray, mean: FloatArray, edf: float) -> float:
    """Pearson's chi-square over its degrees of freedom, at least 1; all arrays of shape (m,)."""
    spread = trials * np.maximum(mean * (1.0 - mean), VARIANCE_FLOOR)
    pearson = float(np.sum((correct - trials * mean) ** 2 / spread))
    freedom = len(trials) - edf
    return max(1.0, pearson / freedom) if freedom > 0 else 1.0


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
