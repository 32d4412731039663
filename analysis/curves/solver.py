"""Many small non-negative quadratic programs at once: the inner problem of every curve fit and refit."""

from __future__ import annotations

import numpy as np

from analysis.arrays import BoolArray, FloatArray

#: Rounds of full exchange without progress before single exchanges take over (finite by Murty's rule).
_PATIENCE = 3
_MAX_ROUNDS = 80


def solve_steps(
    gram: FloatArray,
    target: FloatArray,
    *,
    total: float | None,
    most: float = 1.0,
    passive: BoolArray | None = None,
) -> tuple[FloatArray, BoolArray]:
    """Minimise ``d'Gd / 2 - c'd`` over ``d >= 0`` for a batch, by block principal pivoting.

    Parameters
    ----------
    gram : ndarray, shape (n, K, K)
        Positive definite matrices G.
    target : ndarray, shape (n, K)
        Vectors c.
    total : float or None
        With a number, the steps of every member must sum to it exactly; with None they must sum to at most ``most``.
    most : float
    passive : ndarray of bool, shape (n, K), optional
        Guess of the steps that are positive (a warm start).

    Returns
    -------
    steps : ndarray, shape (n, K)
        The unique minimisers.
    passive : ndarray of bool, shape (n, K)
        The steps that are free (not held at zero).

    Notes
    -----
    Kim and Park (2011), SIAM J. Sci. Comput. 33(6), 3261-3281, section 2: exchange all infeasible variables while
    that reduces their number, else only the last one. The sum constraint enters through its multiplier. As only one
    constraint is left out at first, a member that breaks ``sum <= 1`` has its solution on ``sum == 1``.
    """
    guess = np.ones(target.shape, dtype=bool) if passive is None else passive.copy()
    if total is not None:
        return _pivot(gram, target, total, guess)
    steps, free = _pivot(gram, target, None, guess)
    capped = steps.sum(axis=1) > most
    if capped.any():
        steps[capped], free[capped] = _pivot(gram[capped], target[capped], most, free[capped])
    return steps, free


def _pivot(gram: FloatArray, target: FloatArray, total: float | None, free: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Exchange variables between the free and the zero set until the optimality conditions hold."""
    members, size = target.shape
    if total is not None:
        free[~free.any(axis=1)] = True
    steps = np.zeros((members, size))
    gradient_tolerance = 1e-10 * np.einsum("nkk->nk", gram).max(axis=1, keepdims=True)
    pending = np.arange(members)
    fewest = np.full(members, size + 1)
    patience = np.full(members, _PATIENCE)
    for _ in range(_MAX_ROUNDS):
        active_gram, active_target, active_free = gram[pending], target[pending], free[pending]
        solution, multiplier = _solve_on(active_gram, active_target, active_free, total)
        gradient = np.matmul(active_gram, solution[..., None])[..., 0] - active_target + multiplier
        wrong = np.where(active_free, solution < -1e-13, gradient < -gradient_tolerance[pending])
        count = wrong.sum(axis=1)
        finished = count == 0
        steps[pending[finished]] = solution[finished]
        pending, wrong, count = pending[~finished], wrong[~finished], count[~finished]
        if not len(pending):
            return np.maximum(steps, 0.0), free
        improved = count < fewest[pending]
        fewest[pending] = np.where(improved, count, fewest[pending])
        single = ~improved & (patience[pending] <= 0)
        patience[pending] = np.where(improved, _PATIENCE, patience[pending] - 1)
        last = size - 1 - np.argmax(wrong[:, ::-1], axis=1)
        only_last = np.zeros_like(wrong)
        only_last[np.arange(len(pending)), last] = True
        free[pending] ^= np.where(single[:, None], only_last, wrong)
        if total is not None:
            emptied = pending[~free[pending].any(axis=1)]
            free[emptied] = True
    for member in pending:
        steps[member] = _one_by_nnls(gram[member], target[member], total)
        free[member] = steps[member] > 0.0
    return np.maximum(steps, 0.0), free


def _solve_on(
    gram: FloatArray, target: FloatArray, free: BoolArray, total: float | None
) -> tuple[FloatArray, FloatArray]:
    """Unconstrained minimisers on the free variables, and the multiplier of the sum constraint, shape (n, 1)."""
    weight = free.astype(np.float64)
    restricted = gram * weight[:, :, None] * weight[:, None, :]
    diagonal = np.einsum("nkk->nk", restricted)
    diagonal += 1.0 - weight
    if total is None:
        alone = np.linalg.solve(restricted, (target * weight)[..., None])[..., 0]
        return alone.astype(np.float64, copy=False), np.zeros((len(gram), 1))
    both = np.linalg.solve(restricted, np.stack([target * weight, weight], axis=-1)).astype(np.float64, copy=False)
    plain, direction = both[..., 0], both[..., 1]
    multiplier = (plain.sum(axis=1, keepdims=True) - total) / direction.sum(axis=1, keepdims=True)
    return plain - multiplier * direction, multiplier


def _one_by_nnls(gram: FloatArray, target: FloatArray, total: float | None) -> FloatArray:
    """Last resort for a member on which pivoting did not settle: Lawson and Hanson's method on the factor of G."""
    from scipy.linalg import cholesky, solve_triangular
    from scipy.optimize import nnls

    factor = cholesky(gram, lower=False)
    right = solve_triangular(factor, target, trans="T", lower=False)
    if total is None:
        return np.asarray(nnls(factor, right, maxiter=1000)[0], dtype=np.float64)
    heavy = 1e4 * float(np.abs(factor).max())
    rows = np.vstack([factor, np.full((1, len(target)), heavy)])
    steps = np.asarray(nnls(rows, np.append(right, heavy * total), maxiter=1000)[0], dtype=np.float64)
    return np.asarray(steps * (total / steps.sum()), dtype=np.float64)
