"""Models over people's own accuracy: placed by others, beside people on the same pictures."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.agreement.difficulty import at_difficulties, ease_for_others
from analysis.errors import InvalidInput


def by_hand(
    correct: np.ndarray, people: np.ndarray, originals: np.ndarray, collections: np.ndarray, least: int
) -> np.ndarray:
    found = np.full(len(correct), np.nan)
    for one in range(len(correct)):
        others = (collections == collections[one]) & (people != people[one]) & (originals != originals[one])
        if others.sum() >= least:
            found[one] = correct[others].mean()
    return found


def test_an_answer_is_placed_by_others_on_other_originals() -> None:
    rng = np.random.default_rng(0)
    people, originals, collections = rng.integers(0, 6, 120), rng.integers(0, 8, 120), rng.integers(0, 7, 120)
    correct = rng.random(120) < 0.6
    found = ease_for_others(correct, people, originals, collections)
    expected = by_hand(correct, people, originals, collections, 5)
    assert np.isnan(expected).any() and np.isfinite(expected).any()
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_shares_of_a_range_and_its_difference_by_hand() -> None:
    ease = [0.2, 0.2, 0.39, 0.4, np.nan, 1.0]
    correct, model = [1, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 1]
    found = at_difficulties(ease, correct, model, range(6), range(6))
    assert [one.placed for one in found] == [(0.2, 0.4), (0.4, 0.6), (0.8, 1.0)]
    hard = found[0]
    assert (hard.people, hard.classifier, hard.difference) == pytest.approx((1 / 3, 1.0, 2 / 3))
    assert (hard.n, hard.participants, hard.originals, hard.shown) == (3, 3, 3, False)


def test_the_interval_is_that_of_t_where_nobody_answers_twice() -> None:
    from scipy import stats

    rng = np.random.default_rng(3)
    right, model = rng.random(400) < 0.7, rng.random(400) < 0.5
    (found,) = at_difficulties(np.full(400, 0.7), right, model, np.arange(400), np.arange(400))
    paired = model.astype(float) - right
    reach = stats.sem(paired) * stats.norm.ppf(0.975)
    assert found.shown
    assert found.interval == pytest.approx((paired.mean() - reach, paired.mean() + reach), abs=0.002)


def test_observers_who_agree_everywhere_keep_an_interval() -> None:
    everyone = np.ones(40)
    (found,) = at_difficulties(np.full(40, 0.9), everyone, everyone, np.arange(40) % 8, np.arange(40) // 4)
    assert found.difference == 0.0
    assert found.interval[0] < -0.03 and found.interval[1] > 0.03


def test_luck_does_not_take_an_observer_like_people_off_the_diagonal() -> None:
    """Placed by the very answers, the hardest range holds people's bad luck, and their twin looks better there."""
    rng = np.random.default_rng(5)
    away, naive = [], []
    for _ in range(60):
        people, collection = np.repeat(np.arange(12), 60), np.tile(np.arange(60) % 20, 12)
        original = rng.integers(0, 40, 720)
        true = 0.05 + 0.9 * collection / 19
        right, twin = rng.random(720) < true, rng.random(720) < true
        ease = ease_for_others(right, people, original, collection)
        away.append(at_difficulties(ease, right, twin, people, original)[0].difference)
        own = np.bincount(collection, weights=right)[collection] / np.bincount(collection)[collection]
        naive.append(at_difficulties(own, right, twin, people, original)[0].difference)
    assert abs(np.mean(away)) < 0.01
    assert np.mean(naive) > 0.01


def test_columns_have_one_entry_an_answer() -> None:
    with pytest.raises(InvalidInput, match="one entry"):
        ease_for_others([1, 0], [1], [1, 2], [1, 2])
    with pytest.raises(InvalidInput, match="one entry"):
        at_difficulties([0.5, 0.5], [1, 0], [1], [1, 2], [1, 2])
