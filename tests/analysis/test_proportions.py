from __future__ import annotations

import pytest
from scipy.stats import binomtest

from analysis.clusters import exact_bound


def test_by_hand() -> None:
    # All of n right: the lower limit is tail ** (1 / n).
    assert exact_bound(10, 10, 0.025) == pytest.approx((0.025**0.1, 1.0))
    assert exact_bound(0, 10, 0.025) == pytest.approx((0.0, 1 - 0.025**0.1))


@pytest.mark.parametrize(("successes", "trials"), [(1, 8), (6, 8), (131, 240)])
def test_agrees_with_scipy(successes: int, trials: int) -> None:
    oracle = binomtest(successes, trials).proportion_ci(0.95, "exact")
    assert exact_bound(successes, trials, 0.025) == pytest.approx((oracle.low, oracle.high))


def test_nothing_observed_leaves_everything_open() -> None:
    assert exact_bound(0, 0, 0.025) == (0.0, 1.0)
