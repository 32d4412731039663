"""Variances of estimates whose answers share people and pictures."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from analysis.clusters import Clustered, clustered, covariance, summed


def mean_of(values: np.ndarray, people: np.ndarray, pictures: np.ndarray | None = None) -> Clustered:
    contributions = ((values - values.mean()) / len(values))[:, None]
    ways = [people] if pictures is None else [people, pictures]
    sums = [summed(contributions, codes, codes.max() + 1) for codes in ways]
    return clustered(sums, (contributions**2).sum(axis=0))


def test_by_hand() -> None:
    # People of two answers: residuals +-1/2 of 4 values, sums .25 and -.25, so 2 x .125 = .25 with G / (G - 1) = 2
    spread = mean_of(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1]))
    assert spread.variance == pytest.approx([0.25])
    assert spread.degrees_of_freedom == pytest.approx([1.0])
    # t with one degree of freedom: its 97.5 % quantile is tan(.475 pi)
    assert spread.reach(0.95) == pytest.approx([0.5 * np.tan(0.475 * np.pi)])
    # both people alike, pictures opposed: the pictures carry everything
    crossed = mean_of(np.array([1.0, 0.0, 1.0, 0.0]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    assert crossed.variance == pytest.approx([0.25])


def test_equal_clusters_leave_as_many_degrees_of_freedom_as_there_are_less_one() -> None:
    sums = np.tile([[1.0], [-1.0]], (10, 1))
    assert clustered([sums], np.zeros(1)).degrees_of_freedom == pytest.approx([19.0])
    sums[0] = 10.0
    assert clustered([sums], np.zeros(1)).degrees_of_freedom[0] < 3.0, "one cluster rules"


@pytest.mark.parametrize("seed", range(3))
def test_one_way_equals_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 12, 200)
    values = rng.normal(size=200) + rng.normal(size=12)[people]
    fitted = sm.OLS(values, np.ones(200)).fit(cov_type="cluster", cov_kwds={"groups": people})
    assert mean_of(values, people).standard_error == pytest.approx(fitted.bse, rel=1e-10)


def test_two_ways_recover_the_spread_of_a_mean() -> None:
    """People's and pictures' effects in a crossed design: the variance is right on average, the interval covers."""
    rng = np.random.default_rng(5)
    people, pictures = np.divmod(np.arange(25 * 40), 40)
    found, errors, covered = [], [], []
    for _ in range(600):
        values = rng.normal(size=25)[people] + rng.normal(size=40)[pictures] + rng.normal(size=1000)
        spread = mean_of(values, people, pictures)
        found.append(values.mean())
        errors.append(spread.variance[0])
        covered.append(abs(values.mean()) <= spread.reach(0.95)[0])
    assert np.mean(errors) == pytest.approx(np.var(found), rel=0.15)
    assert np.mean(covered) == pytest.approx(0.95, abs=0.025)


def test_no_spread() -> None:
    spread = clustered([np.zeros((5, 2))], np.zeros(2))
    assert spread.variance.tolist() == [0.0, 0.0]
    assert spread.p_values(np.array([0.0, 0.1])).tolist() == [1.0, 0.0]


def test_equal_truth_is_rejected_at_its_level() -> None:
    rng = np.random.default_rng(8)
    people = np.repeat(np.arange(15), 30)
    p = [
        mean_of(values, people).p_values(np.array([values.mean()]))[0]
        for values in (rng.normal(size=450) + rng.normal(size=15)[people] for _ in range(1000))
    ]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.018)


def test_covariance_of_two_means_equals_statsmodels() -> None:
    rng = np.random.default_rng(7)
    people, cell = rng.integers(0, 12, 200), rng.integers(0, 2, 200)
    values = rng.normal(size=200) + rng.normal(size=12)[people]
    fitted = sm.OLS(values, np.eye(2)[cell]).fit(cov_type="cluster", cov_kwds={"groups": people})
    residual = (values - fitted.params[cell]) / np.bincount(cell)[cell]
    # Theirs also counts the two parameters: (n - 1) / (n - 2).
    np.testing.assert_allclose(covariance(residual, people, cell, (12, 2)) * 199 / 198, fitted.cov_params(), rtol=1e-10)


def test_covariance_by_hand() -> None:
    # Persons 0 and 1 add 1 and -1 to the first estimate, 2 and 0 to the second; G / (G - 1) = 2.
    found = covariance(np.array([1.0, -1.0, 2.0]), np.array([0, 1, 0]), np.array([0, 0, 1]), (2, 2))
    assert found.tolist() == [[4.0, 4.0], [4.0, 8.0]]
