"""Whom the rules `vcr` exclude, and what that does to the human area: `benchmarks.screening`, shorter."""

from __future__ import annotations

import pytest

from benchmarks.screening import (
    CAUGHT,
    CORRUPTIONS,
    HONEST,
    LEAST_CAUGHT,
    MOST_DIFFERENCE,
    MOST_HONEST,
    SETTINGS,
    Outcome,
    simulate,
)


def check(outcomes: dict[tuple[str, str], Outcome]) -> None:
    for (company, kind), outcome in outcomes.items():
        if kind in HONEST:
            assert outcome.share <= MOST_HONEST, (company, kind, outcome.reasons)
            differences = outcome.area_differences()
            assert set(differences) == set(CORRUPTIONS)
            assert max(map(abs, differences.values())) <= MOST_DIFFERENCE, (company, kind, differences)
        elif kind in CAUGHT:
            assert outcome.share >= LEAST_CAUGHT, (company, kind, outcome.reasons)


@pytest.mark.verify
@pytest.mark.parametrize("name", SETTINGS)
def test_careful_people_stay_and_clickers_go(name):
    outcomes = simulate(SETTINGS[name], 40, ("lifelike", *CAUGHT))
    assert {outcome.people for outcome in outcomes.values()} == {40}
    assert {company for company, _ in outcomes} == {"alone", "together"}
    check(outcomes)


def test_golds_of_a_study_of_clickers_are_not_withdrawn():
    outcomes = simulate(SETTINGS["bare"], 100, ("random",))
    assert outcomes["alone", "random"].withdrawn == 0 and outcomes["alone", "random"].share == 1


def test_rules_of_screening_do_not_catch_machines_that_know_clean_pictures():
    """Why sentinels are needed: golds are pictures that models name, and no rule reads corrupted trials."""
    outcomes = simulate(SETTINGS["long"], 25, ("network", "vision-language"))
    assert all(outcomes["alone", kind].share <= 0.2 for kind in ("network", "vision-language"))
    assert outcomes["alone", "network"].area_differences().keys() == set(CORRUPTIONS)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", SETTINGS)
def test_careful_people_stay_and_clickers_go_by_the_thousand(name):
    outcomes = simulate(SETTINGS[name], 1000, SETTINGS[name].kinds)
    check(outcomes)
    assert outcomes["alone", "inconsistent"].share > 0.75, "half of the answers at random"
