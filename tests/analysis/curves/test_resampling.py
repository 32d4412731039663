from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.curves.bootstrap import Bootstrap, pair_spread, spread_of
from analysis.curves.resampling import cluster_words, multiplicities, resampled_sums, resampled_trials


def test_multiplicities_are_poisson_and_uncorrelated() -> None:
    words = cluster_words("image", [f"original-{k}" for k in range(400)])
    drawn = multiplicities(12345, words, 1000).astype(float)
    counts = np.bincount(drawn.astype(int).ravel(), minlength=8)[:8]
    expected = stats.poisson(1).pmf(np.arange(8)) * drawn.size
    assert ((counts - expected) ** 2 / expected).sum() < stats.chi2(7).ppf(0.999)
    assert drawn.mean() == pytest.approx(1, abs=0.006)
    between = np.corrcoef(drawn[:100])
    assert np.abs(between[np.triu_indices(100, 1)]).max() < 0.16
    neighbours = [np.corrcoef(drawn[:, k], drawn[:, k + 1])[0, 1] for k in range(999)]
    assert abs(np.mean(neighbours)) < 0.01


def test_a_name_is_drawn_equally_whatever_stands_beside_it() -> None:
    alone = multiplicities(7, cluster_words("image", ["b"]), 33)
    among = multiplicities(7, cluster_words("image", ["a", "b", "c"]), 33)
    assert (alone[0] == among[1]).all()
    assert (multiplicities(8, cluster_words("image", ["b"]), 33) != alone).any()
    assert (multiplicities(7, cluster_words("participant", ["b"]), 33) != alone).any()


def test_resampled_sums_equal_the_plain_loop() -> None:
    rng = np.random.default_rng(0)
    cluster, cell = rng.integers(0, 7, 50), rng.integers(0, 4, 50)
    outcome = rng.random(50)
    weights = rng.integers(0, 4, size=(7, 5)).astype(np.uint8)
    correct, trials = resampled_sums(weights, cluster, cell, outcome, 4)
    for b in range(5):
        for j in range(4):
            chosen = cell == j
            assert trials[b, j] == weights[cluster[chosen], b].sum()
            assert correct[b, j] == pytest.approx((weights[cluster[chosen], b] * outcome[chosen]).sum())


def test_naive_draws_have_the_moments_of_single_trials() -> None:
    rng = np.random.default_rng(1)
    cell = np.repeat([0, 1], 30)
    outcome = np.tile([0.0, 0.25, 1.0], 20)
    correct, trials = resampled_trials(rng, cell, outcome, 2, 20_000)
    assert trials.mean(axis=0) == pytest.approx([30, 30], abs=0.2)
    assert trials.var(axis=0) == pytest.approx([30, 30], rel=0.05)
    assert correct.var(axis=0) == pytest.approx([(outcome[:30] ** 2).sum()] * 2, rel=0.05)


def test_spread_follows_cameron_gelbach_and_miller() -> None:
    rng = np.random.default_rng(2)
    replicates = {
        "image": rng.normal(0, 2, size=(500, 3)),
        "participant": rng.normal(0, [3, 1, 0.1], size=(500, 3)),
        "trial": rng.normal(0, [1, 1, 3], size=(500, 3)),
    }
    spread = spread_of(np.zeros(3), replicates)
    v = {unit: values.var(axis=0, ddof=1) for unit, values in replicates.items()}
    by_hand = np.maximum(v["image"] + v["participant"] - v["trial"], np.maximum(v["image"], v["participant"]))
    np.testing.assert_allclose(spread.standard_error**2, by_hand)
    np.testing.assert_allclose(spread.deviations.var(axis=0, ddof=1), by_hand)


def test_two_curves_with_one_key_move_together() -> None:
    rng = np.random.default_rng(3)
    shared = rng.normal(0.5, 0.05, size=(400, 4)).astype(np.float32)
    boot = Bootstrap("image", 1, {"image": shared})
    estimate = np.full(4, 0.5)
    difference = pair_spread(boot, boot, estimate, estimate, lambda a, b: (a - b).mean(axis=1))
    assert float(difference.standard_error) == 0.0
    other = Bootstrap("image", 2, {"image": rng.normal(0.5, 0.05, size=(400, 4)).astype(np.float32)})
    apart = pair_spread(boot, other, estimate, estimate, lambda a, b: (a - b).mean(axis=1))
    assert float(apart.standard_error) == pytest.approx(0.05 * np.sqrt(2 / 4), rel=0.1)
