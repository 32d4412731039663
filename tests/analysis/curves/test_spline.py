from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.optimize import minimize

from analysis.curves.spline import fit_binned, select_smoothness, spline_basis
from tests.analysis.curves.truths import kink, sharp

CENTRES = (np.arange(40) + 0.5) / 40


def test_integrals_and_penalty_equal_numerical_quadrature() -> None:
    basis = spline_basis()
    grid = np.linspace(0, 1, 200_001)
    values = basis.design(grid)
    np.testing.assert_allclose(basis.integrals, np.trapezoid(values, grid, axis=0), atol=1e-9)
    curvature = BSpline(basis.knots, np.eye(basis.size), 3).derivative(2)(np.linspace(0, 1, 20_001))
    numeric = np.trapezoid(curvature[:, 3] * curvature[:, 4], np.linspace(0, 1, 20_001))
    assert basis.penalty[3, 4] == pytest.approx(numeric, rel=1e-4)


def test_partial_integrals_add_up() -> None:
    basis = spline_basis()
    whole = basis.integral_design(0.0, 0.37) + basis.integral_design(0.37, 1.0)
    np.testing.assert_allclose(whole, basis.integrals, atol=1e-14)


def test_the_penalty_of_a_straight_line_is_zero() -> None:
    basis = spline_basis()
    greville = np.array([basis.knots[k + 1 : k + 4].mean() for k in range(basis.size)])
    line = 0.9 - 0.8 * greville
    assert abs(line @ basis.penalty @ line) < 1e-10


@pytest.mark.parametrize("anchor", [None, 0.9])
def test_the_fit_minimises_the_penalised_likelihood(anchor: float | None) -> None:
    """A general constrained optimiser, started at the fit, finds nothing better (six segments, nine unknowns)."""
    basis = spline_basis(6, 3)
    rng = np.random.default_rng(4)
    trials = np.full(40, 30.0)
    correct = rng.binomial(30, sharp(CENTRES)).astype(float)
    design = basis.step_design(CENTRES)
    fit = fit_binned(basis, design, correct[None], trials[None], 0.01, start_value=anchor)

    def objective(steps: np.ndarray) -> float:
        mean = np.clip(design @ steps, 1e-9, 1 - 1e-9)
        likelihood = correct @ np.log(mean) + (trials - correct) @ np.log(1 - mean)
        return float(-2 * likelihood + 0.01 * steps @ basis.step_penalty @ steps)

    sum_rule = (
        {"type": "ineq", "fun": lambda d: 1 - d.sum()}
        if anchor is None
        else {"type": "eq", "fun": lambda d: d.sum() - anchor}
    )
    start = np.full(basis.size, (anchor or 0.9) / basis.size)
    oracle = minimize(
        objective, start, bounds=[(0, 1)] * basis.size, constraints=[sum_rule], options={"maxiter": 2000, "ftol": 1e-13}
    )
    assert objective(fit.steps[0]) <= oracle.fun + 1e-4
    np.testing.assert_allclose(design @ fit.steps[0], design @ oracle.x, atol=2e-3)


def test_a_batch_equals_its_members_fitted_alone() -> None:
    basis = spline_basis()
    rng = np.random.default_rng(5)
    trials = rng.poisson(30, size=(25, 40)).astype(float)
    trials[3, 10:20] = 0
    correct = rng.binomial(trials.astype(int), sharp(CENTRES)).astype(float)
    design = basis.step_design(CENTRES)
    together = fit_binned(basis, design, correct, trials, 0.03).coefficients
    for member in (0, 3, 24):
        alone = fit_binned(basis, design, correct[member : member + 1], trials[member : member + 1], 0.03)
        np.testing.assert_allclose(alone.coefficients[0], together[member], atol=1e-7)


def test_extreme_outcomes_stay_finite_and_within_bounds() -> None:
    basis = spline_basis()
    design = basis.step_design(CENTRES)
    trials = np.full((3, 40), 20.0)
    correct = np.stack([np.full(40, 20.0), np.zeros(40), np.where(CENTRES < 0.5, 20.0, 0.0)])
    coefficients = fit_binned(basis, design, correct, trials, 1e-5).coefficients
    assert np.isfinite(coefficients).all()
    np.testing.assert_allclose(coefficients[0], 1.0, atol=1e-6)
    np.testing.assert_allclose(coefficients[1], 0.0, atol=1e-6)
    assert coefficients[2] @ basis.integrals == pytest.approx(0.5, abs=0.01)


def test_effective_parameters_of_a_very_stiff_fit_are_those_of_a_line() -> None:
    """The penalty leaves a straight line free: two parameters."""
    basis = spline_basis()
    trials = np.full(40, 4.0)
    correct = trials * (0.9 - 0.7 * CENTRES)
    chosen = select_smoothness(basis, basis.step_design(CENTRES), correct, trials)
    assert chosen.smoothness == pytest.approx(100.0)
    assert chosen.effective_parameters == pytest.approx(2.0, abs=0.05)
    assert chosen.deviance < 0.01


def test_overdispersed_counts_are_noticed() -> None:
    basis = spline_basis()
    rng = np.random.default_rng(6)
    wobble = np.clip(sharp(CENTRES)[None] + rng.normal(0, 0.12, size=(200, 40)), 0.01, 0.99)
    counts = rng.binomial(50, wobble).astype(float)
    trials = np.full(40, 50.0)
    found = [select_smoothness(basis, basis.step_design(CENTRES), x, trials).dispersion for x in counts[:30]]
    plain = rng.binomial(50, sharp(CENTRES), size=(30, 40)).astype(float)
    calm = [select_smoothness(basis, basis.step_design(CENTRES), x, trials).dispersion for x in plain]
    assert np.median(found) > 2.0
    assert np.median(calm) < 1.2


def test_area_of_the_kink_is_recovered_at_fifty_a_bin() -> None:
    basis = spline_basis()
    rng = np.random.default_rng(7)
    truth = kink(np.linspace(0, 1, 100_001)).mean()
    design = basis.step_design(CENTRES)
    trials = np.full(40, 50.0)
    areas = [
        select_smoothness(basis, design, rng.binomial(50, kink(CENTRES)).astype(float), trials).coefficients
        @ basis.integrals
        for _ in range(50)
    ]
    assert abs(np.mean(areas) - truth) < 0.01
    assert np.sqrt(np.mean((np.array(areas) - truth) ** 2)) < 0.02
