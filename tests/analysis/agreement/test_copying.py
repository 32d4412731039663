"""Copied answers, independence, and what accuracies leave of kappa, beside the published code of Klein et al."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, fisher_exact

from analysis.agreement.pairs import consistency_from_counts, error_consistency, independence_p, kappa_bounds
from analysis.agreement.posterior import copied_interval
from analysis.errors import InvalidInput

Answers = NDArray[np.bool_]


def copying(rng: np.random.Generator, n: int, better: float, copied: float, alone: float) -> tuple[Answers, Answers]:
    """Observers of the computational model of kappa (Klein et al. 2025): the second copies or decides alone."""
    first = rng.random(n) < better
    return first, np.where(rng.random(n) < copied, first, rng.random(n) < alone)


def published_copying(first: Answers, second: Answers) -> float:
    """Their estimate, for a first observer who is the more accurate one: kappa times a ratio of disagreements."""
    p, q = first.mean(), second.mean()
    expected = p * q + (1 - p) * (1 - q)
    kappa = ((first == second).mean() - expected) / (1 - expected)
    return float(kappa * (1 - expected) / (1 - (p**2 + (1 - p) ** 2)))


def bootstrap(rng: np.random.Generator, first: Answers, second: Answers, draws: int = 1000) -> NDArray[np.float64]:
    """Percentiles over pictures that are drawn again, as they do it."""
    n = len(first)
    found = [published_copying(first[rows], second[rows]) for rows in rng.integers(n, size=(draws, n))]
    return np.asarray(np.quantile(found, [0.025, 0.975]))


def test_the_estimate_is_the_published_one_and_a_difference_of_two_shares() -> None:
    """Right on 8 of 10; of these copied or by itself right on 6, of the 2 others on 1: 6/8 - 1/2 = .25."""
    a = np.array([1] * 8 + [0] * 2, dtype=bool)
    b = np.array([1] * 6 + [0] * 2 + [1, 0], dtype=bool)
    found = error_consistency(a, b)
    assert found.copied == pytest.approx(0.25) and published_copying(a, b) == pytest.approx(0.25)


def test_with_many_pictures_the_interval_is_the_bootstraps() -> None:
    rng = np.random.default_rng(2)
    first, second = copying(rng, 1500, 0.8, 0.4, 0.5)
    found = error_consistency(first, second)
    assert found.copied == pytest.approx(published_copying(first, second))
    assert found.copied_interval == pytest.approx(bootstrap(rng, first, second), abs=0.012)


def test_the_interval_is_that_of_two_independent_shares_where_it_is_plain_who_is_better() -> None:
    """Oracle: given who is better, the shares of right answers behind right and wrong ones have beta posteriors."""
    both, first, second, neither = 60, 30, 4, 26
    rng = np.random.default_rng(0)
    right = beta.rvs(both + 0.5, first + 0.5, size=400_000, random_state=rng)
    wrong = beta.rvs(second + 0.5, neither + 0.5, size=400_000, random_state=rng)
    oracle = np.quantile(right - wrong, [0.025, 0.975])
    assert copied_interval(both, first, second, neither, 0.95) == pytest.approx(oracle, abs=0.006)


@pytest.mark.parametrize("pictures", [40, 160])
@pytest.mark.parametrize(("better", "copied", "alone"), [(0.8, 0.4, 0.5), (0.9, 0.0, 0.7), (0.7, 0.7, 0.7)])
def test_the_copied_share_is_covered(pictures: int, better: float, copied: float, alone: float) -> None:
    rng = np.random.default_rng(pictures)
    covered = []
    for _ in range(500):
        interval = error_consistency(*copying(rng, pictures, better, copied, alone)).copied_interval
        if interval is not None:
            covered.append(interval[0] <= copied <= interval[1])
    assert len(covered) > 450 and np.mean(covered) >= 0.93 - 0.02


def test_an_observer_who_answers_the_opposite_copies_less_than_nothing() -> None:
    rng = np.random.default_rng(4)
    first = rng.random(300) < 0.7
    second = np.where(rng.random(300) < 0.5, ~first, rng.random(300) < 0.5)
    found = error_consistency(first, second)
    assert found.copied_interval is not None and found.copied_interval[1] < 0.0
    assert "copied the other's opposite of the answer" in " ".join(found.summary().split())


def test_perfect_observers_say_nothing() -> None:
    """Both always right: kappa is undefined. One of them: it is 0, whatever the other does, and nothing is copied."""
    both = error_consistency([1] * 50, [1] * 50)
    assert math.isnan(both.kappa) and both.copied_interval is None and both.p == 1.0
    one = error_consistency([1] * 50, [1, 0] * 25)
    assert one.kappa == 0.0 and math.isnan(one.copied) and one.copied_interval is None and one.p == 1.0
    with pytest.raises(InvalidInput, match="always right"):
        kappa_bounds((1.0, 0.8))


def test_accuracies_bound_kappa() -> None:
    """Accuracies .8 and .6: both right on .6 at most and on .4 at least; expected .48 and .08, so .24 / .44 and
    -.16 / .44."""
    assert kappa_bounds((0.8, 0.6)) == pytest.approx((-0.16 / 0.44, 0.24 / 0.44))
    assert kappa_bounds((0.7, 0.7))[1] == pytest.approx(1.0)
    assert consistency_from_counts(80, 60, 60, 100).kappa == pytest.approx(kappa_bounds((0.8, 0.6))[1])
    assert consistency_from_counts(80, 60, 40, 100).kappa == pytest.approx(kappa_bounds((0.8, 0.6))[0])


def test_the_p_of_independence_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    for cells in rng.multinomial(60, [0.5, 0.2, 0.1, 0.2], size=30):
        assert independence_p(*map(int, cells)) == pytest.approx(fisher_exact(cells.reshape(2, 2)).pvalue, rel=1e-6)


@pytest.mark.parametrize(("p", "q", "n"), [(0.5, 0.5, 40), (0.8, 0.7, 40), (0.95, 0.9, 160), (0.8, 0.8, 160)])
def test_independent_observers_are_seldom_told_to_depend(p: float, q: float, n: int) -> None:
    rng = np.random.default_rng(n)
    alarms = [error_consistency(rng.random(n) < p, rng.random(n) < q).p < 0.05 for _ in range(1000)]
    assert np.mean(alarms) <= 0.05 + 0.014


def test_nor_where_each_answers_alike_to_pictures_of_one_original() -> None:
    """Forty originals of five pictures, right on all five or on none: as single pictures they would seem to depend."""
    rng = np.random.default_rng(6)
    original = np.repeat(np.arange(40), 5)
    together, alone = [], []
    for _ in range(500):
        a, b = (rng.random(40)[original] < 0.6 for _ in range(2))
        together.append(error_consistency(a, b, originals=original).p < 0.05)
        alone.append(error_consistency(a, b).p < 0.05)
    assert np.mean(alone) > 0.25 and np.mean(together) <= 0.08


def test_observers_who_copy_are_told_to_depend() -> None:
    rng = np.random.default_rng(7)
    assert np.mean([error_consistency(*copying(rng, 160, 0.8, 0.4, 0.5)).p < 0.05 for _ in range(200)]) > 0.95
