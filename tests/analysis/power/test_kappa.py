"""Planning numbers of pictures for error consistency."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import fisher_exact

from analysis.agreement.differences import kappa_difference
from analysis.agreement.pairs import kappa_from_counts
from analysis.errors import InvalidInput
from analysis.power.kappa import (
    KappaQuestion,
    cells_of,
    pictures_for_width,
    plan_kappa,
    power_for_pictures,
    width_for_pictures,
)


def test_pictures_for_a_width_follow_the_variance_of_statsmodels() -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    table = np.array([[560, 140], [100, 200]])  # accuracies .7 and .66
    oracle = cohens_kappa(table)
    wanted = math.ceil(1000 * oracle.var_kappa * (2 * 1.959964 / 0.2) ** 2)
    assert abs(pictures_for_width((0.7, 0.66), oracle.kappa, 0.2) - wanted) <= 1
    assert pictures_for_width((0.5, 0.5), 0.0, 0.2) == 385 and pictures_for_width((0.5, 0.5), 0.0, 2.0) == 30
    with pytest.raises(InvalidInput, match="cannot have"):
        pictures_for_width((0.5, 0.97), 0.5, 0.2)


def test_the_width_of_so_many_pictures_is_the_inverse() -> None:
    """At accuracies of .5 and kappa 0 the variance is 1 / n: the interval is 2 x 1.96 / sqrt(n) wide."""
    assert width_for_pictures((0.5, 0.5), 0.0, 100) == pytest.approx(0.392, abs=1e-3)
    assert width_for_pictures((0.8, 0.7), 0.4, pictures_for_width((0.8, 0.7), 0.4, 0.2)) == pytest.approx(0.2, abs=1e-3)
    assert width_for_pictures((0.5, 0.5), 0.0, 1) == 2.0


def test_a_kappa_of_evenly_split_observers_takes_the_pictures_of_the_textbook() -> None:
    """Variances 1 under independence and 1 - .4^2 under kappa .4: (1.96 + .8416 x .9165)^2 / .16 = 46.7 pictures."""
    found = plan_kappa(KappaQuestion((0.5, 0.5), (0.4,)), powers=(0.8,), runs=4000).sizes[0]
    # Fisher's test is exact and needs some more.
    assert 47 <= found.pictures <= 60 and found.interval[0] <= found.reached <= found.interval[1]
    assert found.reached >= 0.8


def test_the_power_is_that_of_other_studies_tested_by_scipy() -> None:
    question = KappaQuestion((0.8, 0.7), (0.3,))
    found = plan_kappa(question, powers=(), pictures=80).sizes[0]
    rng = np.random.default_rng(5)
    tables = rng.multinomial(80, question.shares(), size=800)
    p = np.array([fisher_exact(one.reshape(2, 2)).pvalue for one in tables])
    assert found.reached == pytest.approx((p < 0.05).mean(), abs=0.05)


def test_the_quick_power_is_near_the_simulated_one() -> None:
    """The plan's note needs no simulation: it is the normal approximation of what the exact test finds."""
    for n in (60, 160):
        found = plan_kappa(KappaQuestion((0.8, 0.8), (0.3,)), powers=(), pictures=n).sizes[0]
        assert found.reached - 0.02 <= power_for_pictures((0.8, 0.8), 0.3, n) <= found.reached + 0.12
    # At accuracies of .5: (.4 x sqrt(47) - 1.96) / .9165 = .854 standard deviations.
    assert power_for_pictures((0.5, 0.5), 0.4, 47) == pytest.approx(0.8033, abs=1e-3)


def test_without_an_effect_the_test_finds_one_in_twenty_studies_at_most() -> None:
    """Nearly no effect: the power of the test is its rate of false alarms."""
    one = plan_kappa(KappaQuestion((0.8, 0.7), (1e-9,)), powers=(), pictures=120, runs=4000).sizes[0]
    assert one.reached <= 0.05 + 0.007
    two = plan_kappa(KappaQuestion((0.8, 0.7, 0.7), (0.3, 0.3 + 1e-9)), powers=(), pictures=120, runs=4000).sizes[0]
    assert 0.03 <= two.reached <= 0.05 + 0.01


def test_shares_of_three_observers_have_what_was_asked() -> None:
    question = KappaQuestion((0.85, 0.75, 0.7), (0.45, 0.3), between=0.5)
    shares = question.shares().reshape(2, 2, 2)
    assert shares.sum() == pytest.approx(1.0) and (shares >= 0.0).all()
    person, first, second = (np.moveaxis(shares, axis, 0)[0].sum() for axis in range(3))
    assert (person, first, second) == pytest.approx((0.85, 0.75, 0.7))
    for pair, kappa in (((0, 1), 0.45), ((0, 2), 0.3), ((1, 2), 0.5)):
        both = np.moveaxis(shares, pair, (0, 1))[0, 0].sum()
        rates = [np.moveaxis(shares, axis, 0)[0].sum() for axis in pair]
        assert float(kappa_from_counts(*rates, both, 1.0)[2]) == pytest.approx(kappa)


def test_models_that_are_alike_are_told_apart_on_fewer_pictures() -> None:
    alone = plan_kappa(KappaQuestion((0.8, 0.7, 0.7), (0.5, 0.3)), powers=(0.8,), runs=500).sizes[0]
    alike = plan_kappa(KappaQuestion((0.8, 0.7, 0.7), (0.5, 0.3), between=0.7), powers=(0.8,), runs=500).sizes[0]
    assert alike.pictures < 0.7 * alone.pictures


def test_the_power_of_a_difference_is_that_of_the_test_of_results() -> None:
    question = KappaQuestion((0.8, 0.7, 0.75), (0.5, 0.3))
    found = plan_kappa(question, powers=(0.8,), runs=2000).sizes[0]
    rng = np.random.default_rng(3)
    kinds = 1 - np.array([[k >> 2 & 1, k >> 1 & 1, k & 1] for k in range(8)])
    hits = []
    for _ in range(300):
        person, first, second = kinds[rng.choice(8, size=found.pictures, p=question.shares())].T
        hits.append(kappa_difference(person, first, second).p < 0.05)
    assert found.reached == pytest.approx(np.mean(hits), abs=0.07)


@pytest.mark.parametrize(
    ("accuracies", "kappas", "between", "said"),
    [
        ((0.5, 0.97), (0.5,), None, "cannot have a kappa of 0.5: it lies between -0.060 and 0.060"),
        ((1.0, 1.0), (0.5,), None, "always right"),
        ((0.8, 0.8), (0.0,), None, "no number of pictures"),
        ((0.8, 0.8, 0.8), (0.3, 0.3), None, "no number of pictures"),
        ((0.8, 0.8), (0.3, 0.2), None, "2 kappas and 2 accuracies"),
        ((0.8, 0.8), (0.3,), 0.2, "belongs to a difference"),
        ((0.8, 0.7, 0.7), (0.9, -0.2), 0.9, "cannot have a kappa"),
        ((0.8, 0.7, 0.7), (0.6, 0.1), 0.95, "at most"),
    ],
)
def test_what_no_observers_can_have_is_refused(
    accuracies: tuple[float, ...], kappas: tuple[float, ...], between: float | None, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        KappaQuestion(accuracies, kappas, between)


def test_a_power_beyond_every_study_is_refused() -> None:
    with pytest.raises(InvalidInput, match="more than 200,000"):
        plan_kappa(KappaQuestion((0.8, 0.8), (0.001,)), powers=(0.8,))
    with pytest.raises(InvalidInput, match="below 1"):
        plan_kappa(KappaQuestion((0.8, 0.8), (0.3,)), powers=(1.0,))


def test_cells_have_their_kappa() -> None:
    both, first, second, _ = cells_of((0.8, 0.6), 0.4)
    assert float(kappa_from_counts(both + first, both + second, both, 1.0)[2]) == pytest.approx(0.4)
