from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from analysis.curves.solver import _one_by_nnls, solve_steps


def programs(seed: int, members: int = 60, size: int = 9) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(members, 14, size))
    right = rng.normal(size=(members, 14)) + rows.mean(axis=2) * rng.uniform(-1, 2, size=(members, 1))
    return rows, right, np.einsum("nij,nik->njk", rows, rows), np.einsum("nij,ni->nj", rows, right)


def test_equals_lawson_and_hanson_where_the_sum_is_free() -> None:
    rows, right, gram, target = programs(1)
    # Small enough that the sum stays below 1.
    target, right = target / 50, right / 50
    steps, free = solve_steps(gram, target, total=None)
    expected = np.array([nnls(a, b)[0] for a, b in zip(rows, right, strict=True)])
    assert expected.sum(axis=1).max() < 1
    np.testing.assert_allclose(steps, expected, atol=1e-10)
    assert not (steps[~free] > 0).any()


@pytest.mark.parametrize("total", [0.3, 1.0])
def test_optimality_conditions_hold_with_a_fixed_sum(total: float) -> None:
    _, _, gram, target = programs(2)
    steps, _ = solve_steps(gram, target, total=total)
    np.testing.assert_allclose(steps.sum(axis=1), total, atol=1e-12)
    assert steps.min() >= 0
    gradient = np.einsum("nij,nj->ni", gram, steps) - target
    # On a simplex every positive variable has the one smallest gradient.
    lowest = gradient.min(axis=1, keepdims=True)
    assert np.abs(np.where(steps > 1e-9, gradient - lowest, 0)).max() < 1e-8


def test_a_sum_above_one_is_capped_at_one() -> None:
    _, _, gram, target = programs(3, members=12, size=4)
    target = target + 40
    steps, _ = solve_steps(gram, target, total=None)
    assert steps.sum(axis=1).max() <= 1 + 1e-12
    for matrix, vector, found in zip(gram, target, steps, strict=True):
        oracle = minimize(
            lambda d, g=matrix, c=vector: 0.5 * d @ g @ d - c @ d,
            np.full(4, 0.2),
            jac=lambda d, g=matrix, c=vector: g @ d - c,
            bounds=[(0, None)] * 4,
            constraints=[{"type": "ineq", "fun": lambda d: 1 - d.sum()}],
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        value = 0.5 * found @ matrix @ found - vector @ found
        assert value <= oracle.fun + 1e-7


@pytest.mark.parametrize("total", [None, 0.4])
def test_the_last_resort_finds_the_same_minimum(total: float | None) -> None:
    _, _, gram, target = programs(4, members=10)
    target = target / 50
    steps, _ = solve_steps(gram, target, total=total)
    single = np.array([_one_by_nnls(g, c, total) for g, c in zip(gram, target, strict=True)])
    np.testing.assert_allclose(steps, single, atol=1e-6)


def test_a_wrong_warm_start_changes_nothing() -> None:
    _, _, gram, target = programs(5)
    cold, _ = solve_steps(gram, target, total=0.7)
    warm, _ = solve_steps(gram, target, total=0.7, passive=np.zeros(target.shape, dtype=bool))
    np.testing.assert_allclose(warm, cold, atol=1e-10)
