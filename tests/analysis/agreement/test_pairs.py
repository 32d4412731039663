from __future__ import annotations

import warnings

import numpy as np
import pytest

from analysis.agreement import error_consistency
from analysis.errors import InvalidInput, TooFewResponses


def test_hand_computed() -> None:
    """Ten pictures, 6 and 5 right, 4 both: c_obs = 0.7, c_exp = 0.3 + 0.2 = 0.5, kappa = 0.4."""
    a = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    b = [1, 1, 1, 1, 0, 0, 1, 0, 0, 0]
    found = error_consistency(a, b)
    assert found.observed == pytest.approx(0.7)
    assert found.expected == pytest.approx(0.5)
    assert found.kappa == pytest.approx(0.4)
    assert found.n == 10 and found.accuracies == (0.6, 0.5) and found.interval is None


def test_equals_cohens_kappa_of_statsmodels() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.stats.inter_rater import cohens_kappa
    rng = np.random.default_rng(0)
    for _ in range(10):
        a, b = rng.random(80) < 0.7, rng.random(80) < 0.4
        table = np.array([[np.sum((a == i) & (b == j)) for j in (0, 1)] for i in (0, 1)])
        assert error_consistency(a, b).kappa == pytest.approx(cohens_kappa(table).kappa, abs=1e-12)


def test_equal_observers_are_wholly_consistent_even_when_never_wrong() -> None:
    assert error_consistency([1, 0, 1], [1, 0, 1]).kappa == 1.0
    assert error_consistency([1, 1], [1, 1]).kappa == 1.0
    assert error_consistency([0, 0], [0, 0]).kappa == 1.0
    assert error_consistency([1, 1], [0, 0]).kappa == 0.0


def test_independent_observers_have_kappa_near_zero_and_an_interval_that_covers_it() -> None:
    rng = np.random.default_rng(3)
    covered = []
    for seed in range(60):
        a, b = rng.random(300) < 0.7, rng.random(300) < 0.6
        interval = error_consistency(a, b, n_bootstrap=300, rng=seed).interval
        assert interval is not None
        covered.append(interval[0] <= 0 <= interval[1])
    assert 0.87 <= np.mean(covered) <= 1


def test_the_interval_depends_on_the_seed_alone() -> None:
    a, b = [1, 0, 1, 1, 0] * 6, [1, 1, 0, 1, 0] * 6
    assert error_consistency(a, b, n_bootstrap=100, rng=1) == error_consistency(a, b, n_bootstrap=100, rng=1)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="2 and 3"):
        error_consistency([1, 0], [1, 0, 1])
    with pytest.raises(InvalidInput, match="right"):
        error_consistency([1, 0.5], [1, 0])
    with pytest.raises(TooFewResponses):
        error_consistency([], [])
