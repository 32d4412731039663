from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from analysis.errors import InvalidInput
from analysis.similarity.verdicts import holm, verdict_of


def test_hand_computed_correction() -> None:
    """0.01 x 4, 0.02 x 3, 0.03 x 2 (raised to 0.06 by the one before it), 0.04 x 1 (likewise)."""
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_equals_the_closed_test_of_every_subset() -> None:
    """An adjusted value is the largest Bonferroni value of all sets that hold the test (Marcus et al. 1976)."""
    p = (np.random.default_rng(0).random(7) ** 3).tolist()
    closed = [
        max(
            min(1.0, size * min(p[one] for one in chosen))
            for size in range(1, 8)
            for chosen in combinations(range(7), size)
            if own in chosen
        )
        for own in range(7)
    ]
    assert holm(p) == pytest.approx(closed, rel=1e-12)


def test_no_probability_is_refused() -> None:
    with pytest.raises(InvalidInput):
        holm([1.2])


def test_three_words() -> None:
    assert verdict_of(equivalent=True, different=True) == "equivalent"
    assert verdict_of(equivalent=False, different=True) == "different"
    assert verdict_of(equivalent=False, different=False) == "undecided"
