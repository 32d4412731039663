"""What an equal top-up comes to, and when returned places are more than chance."""

from __future__ import annotations

import math
from statistics import median

import numpy as np
import pytest

from analysis.campaigns import RETURN_LEVEL, Work, equal_top_up, median_hourly_cents, share_is_above


def crowd(*minutes: float, earned: int = 120) -> list[Work]:
    return [Work(minutes=one, earned_cents=earned) for one in minutes]


def test_the_median_hour_counts_what_everyone_got() -> None:
    people = [*crowd(10, 12, 15), Work(minutes=6, earned_cents=150)]
    assert median_hourly_cents(people) == median([720, 600, 480, 1_500])


@pytest.mark.parametrize("size", [1, 2, 3, 10, 51])
def test_the_top_up_is_the_smallest_that_reaches_the_minimum(size: int) -> None:
    rng = np.random.default_rng(size)
    people = crowd(*rng.uniform(5, 40, size))
    amount = equal_top_up(people, 900)
    assert median_hourly_cents(people, more_cents=amount) >= 900
    assert amount == 0 or median_hourly_cents(people, more_cents=amount - 1) < 900


def test_a_crowd_that_is_paid_enough_needs_nothing() -> None:
    assert equal_top_up(crowd(8, 8, 8), 900) == 0
    assert equal_top_up(crowd(8.1, 8.1, 8.1), 900) == 2


def test_two_of_three_raise_no_alarm_and_eight_of_ten_do() -> None:
    assert not share_is_above(2, 3, 0.3)
    assert not share_is_above(3, 3, 0.3)
    assert share_is_above(8, 10, 0.3)
    assert not share_is_above(300, 1_000, 0.3)
    assert share_is_above(400, 1_000, 0.3)
    assert not share_is_above(10, 10, 1), "no alarm"


def test_the_decision_is_that_of_the_exact_bound() -> None:
    from scipy.stats import beta

    for total in (3, 10, 47, 200):
        for count in range(1, total + 1):
            bound = beta.ppf(RETURN_LEVEL, count, total - count + 1)
            assert share_is_above(count, total, 0.3) == (bound > 0.3), (count, total)


@pytest.mark.verify
@pytest.mark.parametrize("share", [0.1, 0.2, 0.3, 0.5])
def test_a_campaign_at_the_threshold_hardly_ever_alarms_however_often_it_is_looked_at(share: float) -> None:
    """Looked at after each of 1,000 people, added up exactly: whoever has alarmed leaves the sum."""
    standing, alarmed = np.array([1.0]), 0.0
    for total in range(1, 1_001):
        standing = np.append(standing, 0) * (1 - share) + np.insert(standing, 0, 0) * share
        least = next(
            k for k in range(math.ceil(total * share), total + 2) if k > total or share_is_above(k, total, share)
        )
        alarmed += standing[least:].sum()
        standing[least:] = 0
    assert alarmed <= 0.05, alarmed
