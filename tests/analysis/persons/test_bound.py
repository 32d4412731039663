from __future__ import annotations

import pytest
from scipy.stats import binom

from analysis.claims import persons as words
from analysis.errors import InvalidInput
from analysis.persons.calibration import bias_of_area, machines_at_most


@pytest.mark.parametrize(("flagged", "people", "catch"), [(0, 40, 0.9), (2, 40, 0.6), (5, 100, 0.3), (1, 12, 0.9)])
def test_as_many_machines_as_the_flags_allow(flagged: int, people: int, catch: float) -> None:
    most = machines_at_most(flagged, people, catch)
    assert most is not None
    expected = max(m for m in range(people + 1) if binom.cdf(flagged, m, catch) > 0.025)
    assert most == expected


def test_there_is_no_bound_where_nothing_is_caught() -> None:
    assert machines_at_most(0, 40, 0.0) is None
    assert words.bound_sentence(0.0, None, 40) == words.NO_BOUND
    assert "no bound" in words.NO_BOUND


def test_whoever_has_no_sentinels_may_be_a_machine() -> None:
    assert machines_at_most(0, 40, 0.9, unscored=7) == machines_at_most(0, 40, 0.9) + 7


def test_the_bias_is_what_the_mixture_says() -> None:
    people, machine, share = 0.8, 0.4, 0.1
    mixed = (1 - share) * people + share * machine
    found = bias_of_area((mixed, mixed), share, (machine, 1.0))
    assert found is not None and mixed - found.lower == pytest.approx(people)
    assert found.upper == pytest.approx(share / (1 - share) * (1.0 - mixed))
    assert bias_of_area((0.7, 0.8), 0.0, (0.1, 1.0)) == bias_of_area((0.7, 0.8), 0.0, (0.5, 1.0))
    assert bias_of_area((0.7, 0.8), 1.0, (0.1, 1.0)) is None


def test_numbers_that_cannot_be_are_refused() -> None:
    for wrong in ((5, 4, 0.5), (-1, 4, 0.5), (1, 4, 1.5)):
        with pytest.raises(InvalidInput):
            machines_at_most(*wrong)


def test_ten_people_bound_nobody() -> None:
    assert "Ten people bound nobody" in words.few_people(10, 0.31)
    assert "Ten people" not in words.few_people(400, 0.01)
    assert words.bound_sentence(0.3, 40, 40) == "If they catch at least 0.3, everybody may be a machine."
