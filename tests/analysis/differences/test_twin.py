"""Simulated twins: what pictures and people share, and what the ceiling of HMRI follows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import multivariate_normal

from analysis.curves.fit import fit_curve
from analysis.curves.spline import effective_parameters, fit_binned
from analysis.differences.answers import Clusters
from analysis.differences.twin import CurveAnswers, _heights, _parameters, correlation, simulated_twins


@pytest.mark.parametrize("truth", [0.0, 0.25, 0.6])
def test_the_correlation_behind_answers_is_found_again(truth: float) -> None:
    rng = np.random.default_rng(1)
    group = np.arange(24_000) // 4
    chance = rng.uniform(0.1, 0.95, len(group))
    latent = np.sqrt(truth) * rng.standard_normal(6000)[group] + np.sqrt(1 - truth) * rng.standard_normal(len(group))
    right = (latent < ndtri(chance)).astype(float)
    assert correlation(right - chance, chance, group) == pytest.approx(truth, abs=0.03)


def test_the_series_is_the_bivariate_normal() -> None:
    """One pair whose product of residuals is its expectation: the correlation itself comes back."""
    h, k, truth = 0.3, -0.8, 0.5
    both = multivariate_normal.cdf([h, k], mean=[0, 0], cov=[[1, truth], [truth, 1]])
    expected = both - ndtr(h) * ndtr(k)
    residual = np.array([1.0, expected])
    assert correlation(residual, ndtr(np.array([h, k])), np.zeros(2, dtype=int)) == pytest.approx(truth, abs=0.003)


def crowd(people: int, each: int, seed: int = 0) -> CurveAnswers:
    rng = np.random.default_rng(seed)
    count = people * each
    place = rng.random(count)
    right = (rng.random(count) < 0.9 - 0.8 * place).astype(float)
    names = [Clusters.of(np.char.add("x", (np.arange(count) // each).astype(str)))]
    pictures = Clusters.of(np.arange(count).astype(str))
    fit = fit_curve(place, right)
    return CurveAnswers(fit, place, right, names[0], pictures, pictures, np.zeros(count, dtype=bool))


def test_the_ceiling_rises_with_the_answers_and_follows_from_the_seed() -> None:
    small, large = crowd(20, 20), crowd(60, 60)
    medians = [np.median(simulated_twins({"c": one}, seed=1).indices["c"], axis=0) for one in (small, large)]
    assert medians[0][0] < medians[1][0] < 1.0
    assert medians[0][1] > medians[1][1] > 0.0
    again = simulated_twins({"c": small}, seed=1).indices["c"]
    assert np.array_equal(again, simulated_twins({"c": small}, seed=1).indices["c"])


def test_means_are_over_the_same_drawn_studies() -> None:
    twins = simulated_twins({"a": crowd(20, 20), "b": crowd(20, 20, 1)}, seed=1, draws=20)
    assert twins.mean(["a", "b"]) == pytest.approx((twins.indices["a"] + twins.indices["b"]) / 2)
    alone = simulated_twins({"a": crowd(20, 20)}, seed=1, draws=5)
    assert alone.shared.by == "nothing", "every answer is to a picture of its own"


def test_without_a_pair_of_answers_to_one_original_nothing_is_correlated() -> None:
    assert correlation(np.array([0.4, -0.6, 0.2]), np.array([0.6, 0.6, 0.8]), np.arange(3)) == 0.0


def test_a_batch_counts_the_parameters_that_one_fit_after_the_other_counts() -> None:
    """The smoothness of a drawn study is chosen by AIC: by the trace of its smoother, for all draws at once."""
    basis = crowd(40, 20).fit.basis
    places = np.linspace(0.05, 0.95, 19)
    trials = np.full((3, len(places)), 40.0)
    correct = trials * (0.85 - 0.7 * places + np.array([[0.0], [0.05], [-0.05]]))
    design = basis.step_design(places)
    for smoothness in (0.1, 10.0, 1000.0):
        fits = fit_binned(basis, design, correct, trials, smoothness)
        singly = [
            effective_parameters(basis, design, *each, smoothness, None)
            for each in zip(trials, fits.fitted, fits.free, fits.steps, strict=True)
        ]
        counted = _parameters(basis.step_penalty, design, trials, fits, smoothness)
        assert counted == pytest.approx(singly, rel=1e-3) and counted.min() > 1.5


def test_curves_of_drawn_studies_have_their_heights_over_the_whole_axis() -> None:
    one = crowd(60, 60)
    places, cell = one.cells()
    count = np.bincount(cell)
    exact = (count * one.fit.predict(places)).astype(np.float32)
    [heights] = _heights(one.fit, places, exact[None], count.astype(float))
    middles = (np.arange(len(heights)) + 0.5) / len(heights)
    assert heights == pytest.approx(one.fit.predict(middles), abs=0.02)
