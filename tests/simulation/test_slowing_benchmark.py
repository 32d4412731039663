"""`benchmarks.slowing`, shorter: whom the page asks, and that obeying it hides nobody who clicks at random."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.slowing import LEAST_CAUGHT, MOST_DIFFERENCE, asked_at, measure


def rows(*blocks: list[float]) -> list[dict[str, Any]]:
    return [{"block": n, "role": "main", "rt_ms": rt_ms} for n, block in enumerate(blocks) for rt_ms in block]


def test_the_page_asks_before_a_block_and_never_within_one() -> None:
    fast, calm = [200.0] * 10, [800.0] * 10
    assert asked_at(rows(fast, calm), 340.0) == 10
    assert asked_at(rows(calm, fast, calm), 340.0) == 20
    assert asked_at(rows(calm, calm, fast), 340.0) is None


@pytest.mark.verify
def test_clickers_who_obey_are_caught_and_the_area_does_not_depend_on_who_was_asked() -> None:
    found, areas = measure(250, seed=3)
    assert found.clickers_asked == found.clickers >= 25 and found.asked > 0
    assert found.clickers_caught / found.clickers >= LEAST_CAUGHT
    assert all(abs(every - without) <= 2 * MOST_DIFFERENCE for every, without in areas.values())
