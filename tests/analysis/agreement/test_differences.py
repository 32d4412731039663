"""Two kappas beside one person: value, oracles after Klein et al. (2025), coverage and false alarms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.agreement.differences import differences_of_tables, kappa_difference
from analysis.errors import InvalidInput, TooFewResponses

Answers = NDArray[np.bool_]


def observers(
    rng: np.random.Generator, n: int, first: float, second: float, *, alike: float = 0.0
) -> tuple[Answers, Answers, Answers]:
    """A person who is right on .8; models copy so often, and alone are right on .6, `alike` of it together."""
    person = rng.random(n) < 0.8
    common = rng.random(n) < 0.6
    models = []
    for share in (first, second):
        alone = np.where(rng.random(n) < alike, common, rng.random(n) < 0.6)
        models.append(np.where(rng.random(n) < share, person, alone))
    return person, models[0], models[1]


def kappa_of(person: Answers, own: Answers) -> float:
    p, q = person.mean(), own.mean()
    expected = p * q + (1 - p) * (1 - q)
    return float(((person == own).mean() - expected) / (1 - expected))


def exchanged(rng: np.random.Generator, person: Answers, first: Answers, second: Answers, draws: int) -> float:
    """Their test: both models change places on half of the pictures; how often is the difference as large?"""
    found = abs(kappa_of(person, first) - kappa_of(person, second))
    larger = 0
    for _ in range(draws):
        flip = rng.random(len(person)) < 0.5
        swapped = np.where(flip, second, first), np.where(flip, first, second)
        larger += abs(kappa_of(person, swapped[0]) - kappa_of(person, swapped[1])) >= found
    return larger / draws


def test_by_hand() -> None:
    """Of ten pictures the person is right on 6, one model on the same, the other on 5, of them 4 in common."""
    person = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    other = [1, 1, 1, 1, 0, 0, 1, 0, 0, 0]
    found = kappa_difference(person, person, other)
    assert found.kappas == pytest.approx((1.0, 0.4)) and found.difference == pytest.approx(0.6)
    assert found.interval is not None and found.interval[0] < 0.6 < found.interval[1] and found.n == 10
    assert kappa_difference(person, other, other).p == 1.0


def test_spread_and_p_are_those_of_the_published_bootstrap_and_exchange() -> None:
    rng = np.random.default_rng(0)
    person, first, second = observers(rng, 600, 0.45, 0.35, alike=0.5)
    found = kappa_difference(person, first, second)
    drawn = [
        kappa_of(person[rows], first[rows]) - kappa_of(person[rows], second[rows])
        for rows in rng.integers(600, size=(1000, 600))
    ]
    assert found.interval is not None
    assert found.interval == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.025)
    assert found.p == pytest.approx(exchanged(rng, person, first, second, 1000), abs=0.05)


@pytest.mark.parametrize("alike", [0.0, 0.8])
@pytest.mark.parametrize("n", [60, 300])
def test_models_that_are_as_consistent_are_seldom_told_apart_and_the_difference_is_covered(
    n: int, alike: float
) -> None:
    rng = np.random.default_rng(n)
    alarms = [kappa_difference(*observers(rng, n, 0.3, 0.3, alike=alike)).p < 0.05 for _ in range(800)]
    assert np.mean(alarms) <= 0.05 + 0.016
    truth = kappa_difference(*observers(rng, 2_000_000, 0.6, 0.2, alike=alike)).difference
    covered = []
    for _ in range(400):
        interval = kappa_difference(*observers(rng, n, 0.6, 0.2, alike=alike)).interval
        covered.append(interval is not None and interval[0] <= truth <= interval[1])
    assert np.mean(covered) >= 0.92


def test_pictures_of_one_original_count_together() -> None:
    rng = np.random.default_rng(3)
    original = np.repeat(np.arange(50), 4)
    alarms = {True: 0, False: 0}
    for _ in range(400):
        person, first, second = (one[original] for one in observers(rng, 50, 0.3, 0.3))
        for together in alarms:
            alarms[together] += (
                kappa_difference(person, first, second, originals=original if together else None).p < 0.05
            )
    assert alarms[True] / 400 <= 0.075 and alarms[False] / 400 > 0.2


@pytest.mark.parametrize("always", [True, False])
def test_an_observer_who_is_always_right_or_wrong_is_not_compared(always: bool) -> None:
    rng = np.random.default_rng(1)
    person, first, _ = observers(rng, 100, 0.3, 0.3)
    constant = np.full(100, always)
    one = kappa_difference(person, first, constant)
    assert one.kappas[1] == pytest.approx(0.0) and one.interval is None and one.p == 1.0
    none = kappa_difference(constant, constant, first)
    assert math.isnan(none.difference) and none.interval is None and none.p == 1.0


def test_tables_are_the_same_as_single_studies() -> None:
    rng = np.random.default_rng(9)
    columns = [observers(rng, 90, 0.5, 0.2) for _ in range(20)]
    tables = np.zeros((20, 8))
    for row, (person, first, second) in enumerate(columns):
        np.add.at(tables[row], 7 - (4 * person + 2 * first + second.astype(np.int64)), 1)
    difference, _, p = differences_of_tables(tables)
    singles = [kappa_difference(*one) for one in columns]
    assert difference == pytest.approx([one.difference for one in singles])
    assert p == pytest.approx([one.p for one in singles])


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="3, 3, 2 answers"):
        kappa_difference([1, 0, 1], [1, 0, 1], [1, 0])
    with pytest.raises(InvalidInput, match="right"):
        kappa_difference([1, 0.5], [1, 0], [1, 0])
    with pytest.raises(InvalidInput, match="one entry per"):
        kappa_difference([1, 0], [1, 0], [1, 0], originals=["a"])
    with pytest.raises(TooFewResponses):
        kappa_difference([1], [1], [1])
