"""One person's shares by amount of change: counted by hand, windows that are put together, and what is too few."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from analysis.errors import InvalidInput
from analysis.own_performance import FEWEST_IN_WINDOW, FEWEST_PICTURES, own_performance

CHANCE = 1 / 16


def test_counted_by_hand() -> None:
    changes = [0.05] * 10 + [0.3] * 20 + [0.9] * 30
    right = [True] * 9 + [False] + [True] * 10 + [False] * 10 + [True] * 3 + [False] * 27
    found = own_performance(changes, right, chance=CHANCE)
    assert found is not None and not found.is_like_guessing
    assert [(one.start, one.end, one.pictures, one.right) for one in found.windows] == [
        (0.0, 0.125, 10, 9),
        (0.125, 0.375, 20, 10),
        (0.375, 1.0, 30, 3),
    ]
    assert (found.all.pictures, found.all.right) == (60, 22)


@pytest.mark.parametrize(("right", "pictures"), [(0, 40), (3, 40), (25, 50), (50, 50)])
def test_the_interval_is_the_exact_one(right: int, pictures: int) -> None:
    found = own_performance([0.5] * pictures, [True] * right + [False] * (pictures - right), chance=CHANCE)
    exact = binomtest(right, pictures).proportion_ci(0.95, method="exact")
    assert found is not None and (found.all.lower, found.all.upper) == pytest.approx((exact.low, exact.high))


def test_order_does_not_matter_and_every_picture_is_in_one_window() -> None:
    rng = np.random.default_rng(3)
    changes, right = rng.random(120), rng.random(120) < 0.5
    turned = rng.permutation(120)
    found = own_performance(list(changes), list(map(bool, right)), chance=CHANCE)
    assert found == own_performance(list(changes[turned]), list(map(bool, right[turned])), chance=CHANCE)
    assert found is not None and sum(one.pictures for one in found.windows) == 120
    assert min(one.pictures for one in found.windows) >= FEWEST_IN_WINDOW
    ends = [0.0, *(one.end for one in found.windows)]
    assert [one.start for one in found.windows] == ends[:-1] and ends[-1] == 1.0


@pytest.mark.parametrize(
    "changes", [np.linspace(0, 1, FEWEST_PICTURES - 1), np.full(200, 0.4), np.repeat([0.1, 0.9], 50)]
)
def test_too_few_pictures_or_windows_are_no_curve(changes: np.ndarray) -> None:
    found = own_performance(list(changes), [True] * len(changes), chance=CHANCE)
    assert found is not None and found.windows == () and found.all.pictures == len(changes)


def test_guessers_are_told_so() -> None:
    rng = np.random.default_rng(1)
    praised = 0
    for _ in range(400):
        found = own_performance(list(rng.random(120)), list(map(bool, rng.random(120) < CHANCE)), chance=CHANCE)
        assert found is not None
        praised += not found.is_like_guessing
    assert praised <= 0.05 * 400 + 2.6 * (0.05 * 0.95 * 400) ** 0.5


def test_nothing_and_nonsense() -> None:
    assert own_performance([], [], chance=CHANCE) is None
    with pytest.raises(InvalidInput):
        own_performance([0.1], [], chance=CHANCE)
