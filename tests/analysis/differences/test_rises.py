"""Answers that rise: hand-computed windows, falling curves, and what stands in the findings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from analysis.claims.curves import rise_sentence
from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.rises import rises


def evenly(rates: np.ndarray, *, per_cell: int = 40, people: int = 0) -> AnswersToOne:
    """In each of 40 cells so many answers at these rates, on pictures of their own."""
    place = np.repeat((np.arange(40) + 0.5) / 40, per_cell)
    rank = np.tile(np.arange(per_cell), 40)
    right = (rank < np.repeat(rates, per_cell) * per_cell).astype(float)
    return AnswersToOne.of(place, right, np.arange(len(place)), np.arange(len(place)) % people if people else None)


LOW_THEN_HIGH = np.where(np.arange(40) < 20, 0.4, 0.6)


def test_the_windows_and_the_rise_are_those_computed_by_hand() -> None:
    """.4 up to Δv .5, .6 behind: .2 between a window before and one behind."""
    ((name, found),) = rises({"c": evenly(LOW_THEN_HIGH)}).items()
    assert name == "c" and found.rise == pytest.approx(0.2)
    assert found.earlier[1] <= 0.5 + 1e-9 <= found.later[0] + 2e-9
    assert found.earlier[1] - found.earlier[0] == pytest.approx(0.15) == found.later[1] - found.later[0]


def test_a_single_pair_has_the_p_value_of_two_shares() -> None:
    """Two conditions of 200 answers, .4 and .55 right: the one-sided z test of shares, doubled as a floor."""
    place, right = np.repeat([0.0, 1.0], 200), np.tile(np.arange(200), 2) < np.repeat([80, 110], 200)
    found = rises({"c": AnswersToOne.of(place, right, np.arange(400))}, conditions=frozenset({"c"}), draws=20_000)
    pooled = (190.5 / 401) * (210.5 / 401)
    z = 0.15 / np.sqrt(2 * pooled / 200)
    assert found["c"].p == pytest.approx(2 * norm.sf(z), rel=0.1)
    assert (found["c"].earlier, found["c"].later) == ((0.0, 0.0), (1.0, 1.0))


@pytest.mark.parametrize("rates", [np.linspace(0.9, 0.1, 40), LOW_THEN_HIGH[::-1], np.full(40, 0.6), np.ones(40)])
def test_falling_and_level_answers_do_not_rise(rates: np.ndarray) -> None:
    assert rises({"c": evenly(rates), "d": evenly(rates, people=10)}) == {}


def test_many_falling_curves_take_nothing_from_the_one_that_rises_but_its_level() -> None:
    falling = {number: evenly(np.linspace(0.9, 0.1, 40)) for number in range(10)}
    found = rises({**falling, "c": evenly(LOW_THEN_HIGH)})
    assert list(found) == ["c"]
    assert found["c"].p >= rises({"c": evenly(LOW_THEN_HIGH)})["c"].p


def test_a_rise_that_is_only_a_change_of_categories_is_none() -> None:
    """Easy pictures above .5 are more: each category falls."""
    place = np.repeat((np.arange(40) + 0.5) / 40, 40)
    easy = np.tile(np.arange(40), 40) < np.where(place < 0.5, 8, 32)
    right = np.where(easy, np.tile(np.arange(40), 40) % 8 < 7, np.tile(np.arange(40), 40) % 8 < 2).astype(float)
    plain = AnswersToOne.of(place, right, np.arange(1600))
    weighed = AnswersToOne.of(place, right, np.arange(1600), None, Clusters.of(np.where(easy, "easy", "hard")))
    assert rises({"c": plain}) and not rises({"c": weighed})


def test_nothing_is_asked_where_too_little_was_answered() -> None:
    few = AnswersToOne.of([0.1, 0.9], [0.0, 1.0], ["a", "b"])
    assert rises({"c": few}) == {} == rises({})


def test_the_sentence_names_windows_or_conditions() -> None:
    told = rise_sentence(earlier=(0.3, 0.45), later=(0.5, 0.65), rise=0.1234, p=0.00312)
    assert told.startswith(
        "Performance rises: the mean from 0.50 to 0.65 lies 0.123 above that from 0.30 to 0.45 (p = 0.0031, "
    )
    assert "the mean at 1.00 lies 0.100 above that at 0.00" in rise_sentence(
        earlier=(0.0, 0.0), later=(1.0, 1.0), rise=0.1, p=0.02
    )
