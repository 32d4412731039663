from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.errors import InvalidInput, TooFewResponses
from analysis.similarity import d_prime_of, discrimination_test


def answers(n: int, k: int) -> np.ndarray:
    return np.arange(n) < k


def test_thirty_trials_with_sixteen_right() -> None:
    """The worked example: exact interval 0.343 to 0.717, nowhere near a decision."""
    found = discrimination_test(answers(30, 16))
    assert found.interval == pytest.approx((0.343, 0.717), abs=5e-4)
    assert found.verdict == "undecided"


@pytest.mark.parametrize(("n", "k"), [(30, 16), (30, 0), (30, 30), (240, 131), (1000, 527), (7, 3)])
def test_equals_scipys_exact_test(n: int, k: int) -> None:
    oracle = stats.binomtest(k, n, 0.5, alternative="greater")
    two_sided = stats.binomtest(k, n, 0.5).proportion_ci(0.95, "exact")
    found = discrimination_test(answers(n, k))
    assert found.p == pytest.approx(oracle.pvalue, abs=1e-12)
    assert found.interval == pytest.approx((two_sided.low, two_sided.high), abs=1e-10)
    one_sided = stats.binomtest(k, n, 0.5, alternative="less").proportion_ci(0.95, "exact").high
    assert found.upper_bound == pytest.approx(one_sided, abs=1e-10)


@pytest.mark.parametrize(("n", "critical"), [(30, 20), (50, 32), (150, 86), (300, 165), (1000, 527)])
def test_critical_counts_of_the_exact_test(n: int, critical: int) -> None:
    assert discrimination_test(answers(n, critical)).different
    assert not discrimination_test(answers(n, critical - 1)).different


def test_227_trials_have_power_090_for_a_margin_of_010() -> None:
    """Of all counts, those called equivalent have probability 0.9 when people guess."""

    def power(n: int) -> float:
        # The decision is monotone in the count: search the largest one that passes.
        passing = [k for k in range(n // 2, int(0.6 * n) + 1) if discrimination_test(answers(n, k)).equivalent]
        return float(stats.binom(n, 0.5).cdf(max(passing)))

    assert power(227) >= 0.90
    assert power(200) < 0.90


def test_sensitivity_of_the_unbiased_observer() -> None:
    """d' of 1 and 2 score 0.573 and 0.733; a margin of 0.10 still admits d' of about 1.2."""
    phi = stats.norm.cdf
    for d_prime, accuracy in ((1.0, 0.573), (2.0, 0.733)):
        exact = phi(d_prime / 2) ** 2 + (1 - phi(d_prime / 2)) ** 2
        assert exact == pytest.approx(accuracy, abs=5e-4)
        assert d_prime_of(exact) == pytest.approx(d_prime, abs=1e-9)
    assert discrimination_test(answers(300, 150)).margin_d_prime == pytest.approx(1.19, abs=0.005)
    assert d_prime_of(0.4) == 0.0


def test_bias_is_told_from_sensitivity() -> None:
    """Always "same": half right, no sensitivity, a large criterion."""
    same = np.arange(200) % 2 == 0
    constant = discrimination_test(same, same=same)
    assert constant.accuracy == 0.5 and constant.hit_rate == 0.0 and constant.false_alarm_rate == 0.0
    assert constant.criterion is not None and constant.criterion > 2
    assert constant.d_prime == pytest.approx(0.0, abs=1e-9)
    # 80 hits and 40 false alarms of 100 each, by hand with the half-answer correction.
    said_different = np.concatenate([answers(100, 40), answers(100, 80)])
    truly_same = answers(200, 100)
    found = discrimination_test(said_different ^ truly_same, same=truly_same)
    assert (found.hit_rate, found.false_alarm_rate, found.correct) == (0.8, 0.4, 140)
    z = stats.norm.ppf([80.5 / 101, 40.5 / 101])
    assert found.criterion == pytest.approx(-(z[0] + z[1]) / 2)
    assert found.d_prime == pytest.approx(d_prime_of(stats.norm.cdf((z[0] - z[1]) / 2)))


def test_sensitivity_of_the_unbiased_abx_observer() -> None:
    """By hand for d' = 2: Phi(sqrt 2) Phi(1) + Phi(-sqrt 2) Phi(-1) = 0.9214 * 0.8413 + 0.0786 * 0.1587 = 0.7876."""
    assert d_prime_of(0.7876, "abx") == pytest.approx(2.0, abs=1e-3)
    phi = stats.norm.cdf
    for d_prime in (0.3, 1.0, 3.0):
        exact = phi(d_prime / 2**0.5) * phi(d_prime / 2) + phi(-d_prime / 2**0.5) * phi(-d_prime / 2)
        assert d_prime_of(exact, "abx") == pytest.approx(d_prime, abs=1e-8)
    assert [d_prime_of(accuracy, "abx") for accuracy in (0.3, 0.5, 1.0)] == [0.0, 0.0, float("inf")]
    # Three looks tell more than two: the same accuracy takes less.
    assert d_prime_of(0.6, "abx") < d_prime_of(0.6)
    found = discrimination_test(answers(300, 150), form="abx")
    assert found.margin_d_prime == d_prime_of(0.6, "abx") and found.p == discrimination_test(answers(300, 150)).p


def test_an_abx_observer_who_judges_every_picture_on_its_own_is_recovered() -> None:
    """Which of A and B has more of it, and whether X has more than the middle: the answer joins the two."""
    rng = np.random.default_rng(8)
    n, d_prime = 40_000, 1.5
    a_has, x_is_a = rng.random(n) < 0.5, rng.random(n) < 0.5
    x_has = a_has == x_is_a
    a, b, x = (rng.standard_normal(n) + d_prime * has for has in (a_has, ~a_has, x_has))
    says_a = (a > b) == (x > d_prime / 2)
    found = discrimination_test(says_a == x_is_a, form="abx", same=x_is_a)
    assert found.d_prime == pytest.approx(d_prime, abs=0.05)
    assert found.criterion == pytest.approx(0.0, abs=0.03)
    # The same observer with a liking for "b": the accuracy falls, and the criterion tells why.
    likes_b = says_a & (rng.random(n) < 0.7)
    biased = discrimination_test(likes_b == x_is_a, form="abx", same=x_is_a)
    assert biased.accuracy < found.accuracy and biased.criterion is not None and biased.criterion < -0.3
    assert d_prime_of(biased.accuracy, "abx") < biased.d_prime <= d_prime + 0.1


def test_a_form_that_there_is_not_is_refused() -> None:
    with pytest.raises(InvalidInput, match="same-different, abx"):
        discrimination_test([1, 0], form="oddity")  # type: ignore[arg-type]


def test_clusters_widen_the_interval_and_independent_people_do_not() -> None:
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(30), 20)
    skill = np.where(np.arange(30) < 15, 0.95, 0.35)[person]
    spread_out = rng.random(600) < skill
    alone, clustered = discrimination_test(spread_out), discrimination_test(spread_out, participants=person)
    assert clustered.design_effect > 3
    assert clustered.interval[0] < alone.interval[0] and clustered.interval[1] > alone.interval[1]
    assert clustered.p > alone.p
    effects = [
        discrimination_test(np.random.default_rng(s).random(600) < 0.6, participants=person).design_effect
        for s in range(40)
    ]
    assert np.median(effects) < 1.2


def test_clustered_interval_covers_the_population_accuracy() -> None:
    covered = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        skill = rng.beta(6, 4, 40)
        person = np.repeat(np.arange(40), 10)
        found = discrimination_test(rng.random(400) < skill[person], participants=person)
        covered.append(found.interval[0] <= 0.6 <= found.interval[1])
    assert 0.91 <= np.mean(covered) <= 0.99


def test_guessing_is_called_different_at_the_nominal_rate() -> None:
    rng = np.random.default_rng(5)
    called = [discrimination_test(rng.random(200) < 0.5).different for _ in range(1000)]
    assert np.mean(called) <= 0.065


def test_bad_columns_are_refused() -> None:
    with pytest.raises(TooFewResponses):
        discrimination_test([])
    with pytest.raises(InvalidInput, match="correct"):
        discrimination_test([0.5])
    with pytest.raises(InvalidInput, match="same"):
        discrimination_test([1, 0], same=[1])
    with pytest.raises(InvalidInput, match="participants"):
        discrimination_test([1, 0], participants=["a"])
    with pytest.raises(InvalidInput, match="margin"):
        discrimination_test([1, 0], margin=0.6)
