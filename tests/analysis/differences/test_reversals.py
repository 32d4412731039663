"""Which of two networks is ahead on the same pictures, and whether an order is said to be reversed where it is not."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.differences.reversals import ahead
from benchmarks.claims.groups import reversed_order


def test_by_hand_cells_count_equally() -> None:
    first = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    second = np.array([0.0, 1.0, 1.0, 1.0, 0.0])
    cells = np.array([0, 0, 0, 0, 1])
    found = ahead(first, second, cells, np.arange(5))
    assert found.difference == pytest.approx((1 / 4 + 0) / 2)
    # Twice the weight for the second cell, which is empty of difference.
    assert ahead(first, second, cells, np.arange(5), shares=np.array([1.0, 3.0])).difference == pytest.approx(1 / 16)


def test_one_cell_is_the_clustered_mean_of_statsmodels() -> None:
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(0)
    originals = np.repeat(np.arange(30), 4)
    ease = rng.normal(0, 0.2, 30)[originals]
    first, second = (rng.random(120) < 0.6 + ease).astype(float), (rng.random(120) < 0.5).astype(float)
    found = ahead(first, second, np.zeros(120, int), originals)
    oracle = sm.OLS(first - second, np.ones(120)).fit(cov_type="cluster", cov_kwds={"groups": originals})
    assert found.difference == pytest.approx(float(oracle.params[0]))
    # Ours takes residuals from a mean of n as too small by (n - 1) / n; and statsmodels has normal quantiles.
    error = float(oracle.bse[0]) * np.sqrt(120 / 119)
    half = (found.interval[1] - found.interval[0]) / 2
    assert 1.96 * error < half < 2.1 * error
    assert found.p == pytest.approx(1 - ahead(second, first, np.zeros(120, int), originals).p)


def test_equal_networks_are_not_ahead() -> None:
    same = np.array([1.0, 0.0, 1.0])
    found = ahead(same, same, np.zeros(3, int), np.arange(3))
    assert (found.difference, found.interval) == (0.0, (0.0, 0.0)) and found.p == pytest.approx(0.5)


@pytest.mark.parametrize("gaps", [(0.0, 0.0), (0.15, 0.0), (0.1, 0.1), (0.0, -0.15)])
def test_an_order_that_is_not_reversed_is_seldom_said_to_be(gaps: tuple[float, float]) -> None:
    study = reversed_order(*gaps, originals=30, each=4)
    told = [study(np.random.default_rng(seed))["said"] for seed in range(300)]
    assert np.mean(told) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_a_reversed_order_is_found() -> None:
    study = reversed_order(0.2, -0.2, originals=60, each=5)
    assert np.mean([study(np.random.default_rng(seed))["said"] for seed in range(50)]) > 0.9
