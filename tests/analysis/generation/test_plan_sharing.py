from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.generation.target_assignment import share_out


def draws_are_counted_down(takers: np.ndarray, draws: np.ndarray) -> bool:
    """Whether an original's targets have the numbers 0, 1, 2 ... from its highest down."""
    return all(
        draws[takers == original].tolist() == list(range(int(np.sum(takers == original))))[::-1]
        for original in set(takers.tolist())
    )


@given(count=st.integers(0, 200), originals=st.integers(1, 30), first=st.integers(0, 29))
@settings(max_examples=60, deadline=None)
def test_where_everybody_reaches_everything_all_take_turns(count: int, originals: int, first: int) -> None:
    first %= originals
    takers, draws = share_out(np.linspace(0, 1, count), originals, first)
    # From the highest target down.
    assert takers[::-1].tolist() == [(first + k) % originals for k in range(count)]
    assert draws[::-1].tolist() == [k // originals for k in range(count)]


def test_a_hand_made_case() -> None:
    # Falling: 0.9 and 0.8 only original 2 reaches; 0.6 original 1, too, which has none yet; then 0 and 1 catch up.
    takers, draws = share_out(np.array([0.1, 0.2, 0.3, 0.6, 0.8, 0.9]), 3, 0, np.array([0.5, 0.7, 0.95]))
    assert takers[::-1].tolist() == [2, 2, 1, 0, 0, 1]
    assert draws[::-1].tolist() == [0, 1, 0, 0, 1, 1]


@given(count=st.integers(1, 300), originals=st.integers(1, 30), seed=st.integers(0, 999))
@settings(max_examples=80, deadline=None)
def test_nobody_gets_a_target_out_of_reach_that_another_reaches(count: int, originals: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    needs, reaches = np.sort(rng.random(count)), rng.uniform(0.2, 1.0, originals)
    takers, draws = share_out(needs, originals, int(rng.integers(originals)), reaches)
    assert np.all((reaches[takers] >= needs) | (needs > reaches.max()))
    assert np.all(takers[needs > reaches.max()] == reaches.argmax())
    assert draws_are_counted_down(takers, draws)


@pytest.mark.parametrize("repeats", [4, 34])
def test_use_stays_even_where_half_reach_the_top(repeats: int) -> None:
    rng = np.random.default_rng(repeats)
    originals = 50
    reaches = rng.uniform(0.75, 0.98, originals)
    needs = np.sort(rng.uniform(0, np.quantile(reaches, 0.6), repeats * originals))
    takers, _ = share_out(needs, originals, 7, reaches)
    uses = Counter(takers.tolist())
    assert len(uses) == originals
    assert max(uses.values()) - min(uses.values()) <= 1
    # Among the top tenth, those who reach it stand in for those who do not.
    top = Counter(takers[-len(needs) // 10 :].tolist())
    assert max(top.values()) <= 3 * len(needs) / 10 / originals


def test_fifty_thousand_targets_are_shared_out_in_no_time() -> None:
    rng = np.random.default_rng(0)
    reaches = rng.uniform(0.7, 0.98, 50_000)
    needs = np.sort(rng.uniform(0, 0.93, 50_000))
    takers, _ = share_out(needs, 50_000, 0, reaches)
    assert np.all(reaches[takers] >= needs)
    assert np.bincount(takers).max() <= 3
