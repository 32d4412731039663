"""Families of estimates: one estimate by hand, what moves together, and numbers that stay."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

from analysis.differences.answers import SumsOfNames
from analysis.differences.beside import beside_people
from analysis.differences.family import Estimates, null_draws, which_differ
from benchmarks.claims._studies import SHARP, SMOOTH, Size, simulated


def of_means(outcomes: np.ndarray, contrasts: np.ndarray) -> Estimates:
    """Contrasts of the means of columns; every row is an original."""
    count = len(outcomes)
    means = outcomes.mean(axis=0)
    names = np.array([f"o{number:03}" for number in range(count)])
    sums = SumsOfNames(names, csr_array((outcomes - means) / count))
    return Estimates.of(contrasts @ means, contrasts, {"original": sums}, np.zeros(len(contrasts)))


def test_one_mean_is_the_t_test_of_one_sample() -> None:
    outcomes = np.random.default_rng(1).normal(0.3, 1.0, (30, 1))
    one = of_means(outcomes, np.eye(1))
    test = stats.ttest_1samp(outcomes[:, 0], 0.0)
    assert one.values[0] / one.spread.standard_error[0] == pytest.approx(test.statistic)
    (differs,), (p,), critical = which_differ([one])
    assert critical == pytest.approx(stats.norm.ppf(0.975), abs=0.1)
    freedom = one.spread.degrees_of_freedom[0]
    assert one.normal_scores[0] == pytest.approx(-stats.norm.ppf(stats.t.sf(test.statistic, freedom)))
    assert differs[0] == (one.normal_scores[0] > critical)
    assert p[0] == pytest.approx(2.0 * stats.norm.sf(one.normal_scores[0]), abs=0.01)


def test_the_correlation_of_estimates_is_that_of_their_outcomes() -> None:
    """By hand: the difference of two independent means of one spread correlates with either by the root of 1/2."""
    own = of_means(np.random.default_rng(6).normal(size=(20_000, 2)), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]))
    half = np.sqrt(0.5)
    expected = np.array([[1.0, 0.0, half], [0.0, 1.0, -half], [half, -half, 1.0]])
    assert own.correlation == pytest.approx(expected, abs=0.02)


def test_estimates_of_the_same_originals_move_together() -> None:
    """Draws of two members correlate as their estimates do; without a common original they do not."""
    rng = np.random.default_rng(2)
    first = rng.normal(size=(200, 1))
    second = 0.8 * first + 0.6 * rng.normal(size=(200, 1))
    family = [of_means(one, np.eye(1)) for one in (first, second)]
    draws = np.concatenate(null_draws(family, seed=0, n_draws=4000), axis=1)
    assert np.corrcoef(draws.T)[0, 1] == pytest.approx(np.corrcoef(first[:, 0], second[:, 0])[0, 1], abs=0.03)
    assert draws.std(axis=0) == pytest.approx([1.0, 1.0], abs=0.05)
    own = family[1].sums["original"]
    others = {"original": SumsOfNames(np.char.add("x", own.names), own.sums)}
    apart = Estimates.of(family[1].values, np.eye(1), others, np.zeros(1))
    draws = np.concatenate(null_draws([family[0], apart], seed=0, n_draws=4000), axis=1)
    assert np.corrcoef(draws.T)[0, 1] == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize("originals", [6, 60])
def test_draws_have_the_covariance_of_the_contributions(originals: int) -> None:
    """Also of fewer originals than columns, and where a column is the sum of others."""
    outcomes = np.random.default_rng(4).normal(size=(originals, 9))
    outcomes[:, 8] = outcomes[:, 0] - outcomes[:, 1]
    own = of_means(outcomes, np.eye(9))
    (draws,) = null_draws([own], seed=0, n_draws=40_000)
    expected = np.corrcoef(own.sums["original"].sums.toarray().T)
    assert np.corrcoef(draws.T) == pytest.approx(expected, abs=0.03)
    assert draws[:, 8] * own.both[8] ** 0.5 == pytest.approx(
        draws[:, 0] * own.both[0] ** 0.5 - draws[:, 1] * own.both[1] ** 0.5, abs=1e-3
    )


def test_the_numbers_of_models_beside_people_stay() -> None:
    study = simulated(np.random.default_rng(7), Size(12, 40), [SMOOTH, SHARP], [[SMOOTH, SHARP.lowered(0.08)]])
    (found,) = beside_people(study.people, study.models, attentive={}, seed=3).values()
    second = found.corruptions["corruption 1"]
    numbers = (found.difference, found.standard_error, found.degrees_of_freedom)
    assert numbers == pytest.approx((-0.058716640026696076, 0.01424316499154951, 49.4320880993176), rel=1e-12)
    assert second.critical == pytest.approx(3.2331995964050293, rel=1e-6)
    assert second.significant.sum() == 6
