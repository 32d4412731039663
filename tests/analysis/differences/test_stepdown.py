"""Step-down over a family of tests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from statsmodels.stats.multitest import multipletests

from analysis.differences.stepdown import stepdown


def test_what_is_rejected_leaves_the_maximum() -> None:
    """Of two tests the second is beyond the 95 % quantile of one alone, not of the larger of both."""
    draws = np.abs(np.random.default_rng(1).standard_normal((200_000, 2))).astype(np.float32)
    rejected, critical = stepdown(np.array([5.0, 2.1]), draws, 0.05)
    assert critical == pytest.approx(2.236, abs=0.02) and rejected.tolist() == [True, True]
    assert stepdown(np.array([2.2, 2.1]), draws, 0.05)[0].tolist() == [False, False]


def test_with_independent_tests_it_equals_holm_and_sidak() -> None:
    rng = np.random.default_rng(2)
    draws = np.abs(rng.standard_normal((100_000, 8))).astype(np.float32)
    for _ in range(20):
        found = np.abs(rng.normal(0.0, 2.0, 8))
        wanted = multipletests(2.0 * ndtr(-found), 0.05, "holm-sidak")[0]
        clear = np.abs(found - 2.5) > 0.35
        assert np.array_equal(stepdown(found, draws, 0.05)[0][clear], wanted[clear])


def test_tests_that_move_together_cost_no_more_than_one() -> None:
    one = np.abs(np.random.default_rng(3).standard_normal((100_000, 1))).astype(np.float32)
    assert stepdown(np.full(50, 2.0), np.repeat(one, 50, axis=1), 0.05)[1] == pytest.approx(1.96, abs=0.02)
