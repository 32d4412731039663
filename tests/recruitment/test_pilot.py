"""What the people of a pilot suggest: hand-computed numbers, and nothing from too few."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from analysis.campaigns import reward_for
from analysis.errors import InvalidInput
from analysis.study.terms import Terms
from humanexp.console.preflight.check import Launch
from humanexp.console.preflight.terms import pilot
from humanexp.core.errors import StudyRefused
from humanexp.core.problems import Severity
from humanexp.ledger.terms import pilot_of, planned_pilot, suggested_terms
from humanexp.participation.models import Session
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db(transaction=True)
#: 65 of 100 took at most 10 minutes, 90 of 100 at most 14, by linear interpolation: 2.6 and 3.6 steps up.
WORKED = (4, 6, 8, 12, 16)


@pytest.fixture
def study(transactional_db: None) -> Study:
    return make_study("pilot", recruitment=Terms(pilot_places=8, hourly_cents=1200, wage_people=0))


def launch(study: Study, places: int) -> Campaign:
    return publish(study=study, terms=LaunchTerms(to="link", assignments=places))


def finish(campaign: Campaign, *minutes: float) -> None:
    """People who worked for so long, and sat a minute longer."""
    for number, took in enumerate(minutes):
        visitor = Visitor(campaign)
        visitor.person = {"p": f"p{number}"}
        assert visitor.open().status_code == 201
        visitor.answer_all()
        session = visitor.session
        ended = session.completed_at or session.opened_at
        Session.objects.filter(pk=session.pk).update(
            active_s=took * 60, completed_at=ended, opened_at=ended - timedelta(minutes=took + 1)
        )


def line(study: Study, to: str = "link") -> Any:
    return pilot(Launch(study=study, to=to))


def test_five_people_suggest_the_reward_and_the_time(study: Study) -> None:
    finish(launch(study, 8), *WORKED)
    found = pilot_of(study)
    # places 2.6 of 0..4: 8 + .6 * 4 = 10.4 minutes; at 12.00 an hour 2.08
    assert found.people == 5
    assert found.working_minutes == pytest.approx(10.4)
    assert found.reward_cents == 208
    assert found.slow_minutes is not None and found.least_minutes == pytest.approx(3 * found.slow_minutes)
    assert suggested_terms(study).reward_cents == 208
    words = found.words("GBP")
    assert "Of 5 people" in words and "10.4 minutes" in words and "£2.08" in words and "£12.00 an hour" in words
    assert line(study).severity == Severity.GOOD and "10.4" in line(study).text


def test_four_people_suggest_nothing_and_are_said_to_be_too_few(study: Study) -> None:
    before = suggested_terms(study).reward_cents
    finish(launch(study, 8), *WORKED[:4])
    found = pilot_of(study)
    assert (found.people, found.working_minutes, found.reward_cents, found.least_minutes) == (4, None, None, None)
    assert suggested_terms(study).reward_cents == before
    assert "4 people" in found.words("GBP") and "from 5 people on" in found.words("GBP")
    assert "pilot of at most 8" in line(study).text


def test_the_plan_lets_nobody_launch_more_before_the_pilot(study: Study) -> None:
    assert suggested_terms(study).assignments == 8
    with pytest.raises(StudyRefused, match="pilot of at most 8"):
        launch(study, 9)
    pilot = launch(study, 5)
    with pytest.raises(StudyRefused, match="at most 3 places"):
        launch(study, 4)
    finish(pilot, *WORKED)
    assert planned_pilot(study) is None
    assert launch(study, 12).assignments == 12


def test_a_pilot_that_does_not_count_is_another_study_of_the_family(study: Study) -> None:
    finish(launch(study, 8), *WORKED)
    main = make_study("pilot-main", recruitment=Terms(hourly_cents=600))
    main.family, main.version = study.family, 2
    main.save()
    found = pilot_of(main)
    assert (found.people, found.elsewhere, found.reward_cents) == (5, study, 104)
    assert "in pilot" in found.words("GBP")
    assert pilot_of(make_study("stranger")).people == 0


def test_a_reward_below_the_suggestion_is_warned_of(study: Study) -> None:
    finish(launch(study, 8), *WORKED)
    study.configuration["recruitment"]["reward_cents"] = 207
    study.save(update_fields=["configuration"])
    found = line(study, "marketplace")
    assert found.severity == Severity.WARN and "2.08" in found.remedy
    study.configuration["recruitment"]["reward_cents"] = 208
    study.save(update_fields=["configuration"])
    assert line(study, "marketplace").severity == Severity.GOOD


def test_scripted_participants_are_no_pilot() -> None:
    scripted = make_study("pilot-scripted", population="scripted", recruitment=Terms(pilot_places=5))
    assert planned_pilot(scripted) is None
    assert "Scripted" in line(scripted).text


def test_a_plan_has_a_pilot_of_five_to_ten() -> None:
    for places in (4, 11):
        with pytest.raises(InvalidInput):
            Terms.from_dict({"pilot_places": places})


@pytest.mark.parametrize(("minutes", "cents"), [(10, 200), (10.001, 201), (0.01, 1), (30, 600)])
def test_a_reward_is_rounded_up(minutes: float, cents: int) -> None:
    assert reward_for(minutes, 1200) == cents
