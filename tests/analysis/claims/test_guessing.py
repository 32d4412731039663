"""Networks that guess: by hand, against an independent count, under the null, and where it must not be said."""

from __future__ import annotations

from itertools import pairwise
from math import comb

import numpy as np
import pytest

from analysis.claims.claim import ENOUGH_PICTURES, guessing_words, is_guessing


def at_least(right: int, shown: int, chance: float) -> float:
    return sum(comb(shown, k) * chance**k * (1 - chance) ** (shown - k) for k in range(right, shown + 1))


def test_by_hand() -> None:
    """Of 16 pictures a guesser among 16 labels has one right or more in 1 - (15/16)^16 = .644 of all cases."""
    assert at_least(1, 16, 1 / 16) == pytest.approx(0.644, abs=5e-4)
    assert is_guessing(1, 16, 1 / 16) and is_guessing(0, 16, 1 / 16)
    # At least 5 of 16: .0024.
    assert not is_guessing(5, 16, 1 / 16)


@pytest.mark.parametrize("shown", [10, 40, 300])
@pytest.mark.parametrize("labels", [2, 16, 1000])
def test_the_limit_is_that_of_the_exact_count(shown: int, labels: int) -> None:
    said = [is_guessing(right, shown, 1 / labels) for right in range(shown + 1)]
    assert said == [at_least(right, shown, 1 / labels) > 0.01 for right in range(shown + 1)]
    assert all(earlier >= later for earlier, later in pairwise(said))


def test_a_guesser_is_found_and_whoever_sees_something_is_not_called_one() -> None:
    rng = np.random.default_rng(3)
    guessers = rng.binomial(160, 1 / 16, 2000)
    assert np.mean([is_guessing(int(right), 160, 1 / 16) for right in guessers]) >= 0.985
    weak = rng.binomial(160, 0.2, 2000)
    assert np.mean([is_guessing(int(right), 160, 1 / 16) for right in weak]) <= 0.01


def test_of_a_few_pictures_nothing_is_said() -> None:
    assert not any(is_guessing(0, shown, 1 / 16) for shown in range(ENOUGH_PICTURES))
    assert guessing_words("net", 2, 40).startswith("net names 2 of 40 clean pictures right, no more than by guessing.")
