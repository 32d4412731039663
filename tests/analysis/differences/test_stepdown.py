"""Step-down over a family of tests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from statsmodels.stats.multitest import multipletests

from analysis.differences.family import stepdown


def test_what_is_rejected_leaves_the_maximum() -> None:
    """Of two tests the second is beyond the 95 % quantile of one alone, not of the larger of both."""
    draws = np.abs(np.random.default_rng(1).standard_normal((200_000, 2))).astype(np.float32)
    p, critical = stepdown(np.array([5.0, 2.1]), draws, 0.05)
    assert critical == pytest.approx(2.236, abs=0.02)
    assert p[0] < 1e-4 and p[1] == pytest.approx(2.0 * ndtr(-2.1), abs=0.002)
    both = stepdown(np.array([2.2, 2.1]), draws, 0.05)[0]
    assert both[0] == pytest.approx(1.0 - (1.0 - 2.0 * ndtr(-2.2)) ** 2, abs=0.002) and both[1] == both[0]


def test_with_independent_tests_it_equals_holm_and_sidak() -> None:
    rng = np.random.default_rng(2)
    draws = np.abs(rng.standard_normal((100_000, 8))).astype(np.float32)
    for _ in range(20):
        found = np.abs(rng.normal(0.0, 2.0, 8))
        wanted = multipletests(2.0 * ndtr(-found), 0.05, "holm-sidak")[1]
        assert stepdown(found, draws, 0.05)[0] == pytest.approx(wanted, abs=0.006)


def test_tests_that_move_together_cost_no_more_than_one() -> None:
    one = np.abs(np.random.default_rng(3).standard_normal((100_000, 1))).astype(np.float32)
    assert stepdown(np.full(50, 2.0), np.repeat(one, 50, axis=1), 0.05)[1] == pytest.approx(1.96, abs=0.02)
