"""Working time from the arrivals of answers, and what people are told of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from humanexp.participation.models import Response, Session
from humanexp.recruiters.campaigns import estimated_minutes, minutes_told, slow_minutes
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.screening.services import append_verdict
from tests.factories import active_minutes
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db
MARKET = "https://market.example.org"
#: A trial with an answer after 700 ms, in seconds.
TRIAL_S = (50 + 700 + 700 + 150 + 316) / 1000


@pytest.fixture
def campaign(settings: Any) -> Campaign:
    settings.MARKETPLACE_URL = MARKET
    return publish(
        study=make_study(), terms=LaunchTerms(to="marketplace", assignments=8, reward_cents=100, estimated_minutes=9)
    )


def took(campaign: Campaign, number: int, gaps_s: Sequence[float]) -> Session:
    """Somebody whose answers arrived so many seconds after opening, and after each answer before."""
    visitor = Visitor(campaign, worker_id=f"AWORKER{number}", assignment_id=f"A{number}", submit_to=MARKET)
    visitor.open()
    visitor.answer_all()
    at = visitor.session.opened_at
    for response, gap in zip(Response.objects.filter(session=visitor.session), gaps_s, strict=True):
        at += timedelta(seconds=gap)
        Response.objects.filter(pk=response.pk).update(received_at=at)
    Session.objects.filter(pk=visitor.session.pk).update(completed_at=at, is_verified=True)
    Assignment.objects.filter(assignment_id=f"A{number}").update(state="submitted")
    return visitor.session


def seconds(session: Session) -> float:
    return active_minutes([session.pk])[session.pk] * 60


def test_a_break_is_no_work(campaign: Campaign) -> None:
    assert seconds(took(campaign, 1, [300, 30, 30])) == pytest.approx(360, abs=0.1)
    assert seconds(took(campaign, 2, [3_600, 3_600, 30])) == pytest.approx(600 + 60 + 30, abs=0.1)


def test_answers_of_a_burst_were_work(campaign: Campaign) -> None:
    """The line was down for ten minutes: 200 answers of about two minutes' work arrived at once."""
    session = took(campaign, 1, [30, 600, 0])
    Response.objects.filter(session=session, position=2).update(rt_ms=120_000)
    assert seconds(session) == pytest.approx(30 + TRIAL_S + 120 + TRIAL_S - 0.7, abs=0.1)


def test_everything_at_once_after_the_first_page(campaign: Campaign) -> None:
    session = took(campaign, 1, [1_200, 0, 0])
    Response.objects.filter(session=session).update(rt_ms=400_000)
    assert seconds(session) == pytest.approx(1_200, abs=0.1), "nobody worked for longer than the sitting lasted"


def test_people_are_told_what_others_took_once_enough_did(campaign: Campaign) -> None:
    assert minutes_told(campaign) == 9
    for number in range(4):
        took(campaign, number, [200, 40, 20])
    assert minutes_told(campaign) == 9, "four are too few"
    took(campaign, 4, [600, 40, 20])
    assert estimated_minutes(campaign.study) == 5, "4:20, rounded up"
    assert minutes_told(campaign) == 9, "no less than whoever came first was told"
    campaign.estimated_minutes = 3
    assert minutes_told(campaign) == 5, "more, where it takes more"


def test_whoever_is_excluded_tells_nobody_how_long_it_takes(campaign: Campaign) -> None:
    for number, minutes in enumerate((4, 5, 6, 7, 8)):
        took(campaign, number, [60 * minutes - 30, 1, 1])
    quick = [took(campaign, number, [1, 1, 1]) for number in range(5, 8)]
    assert estimated_minutes(campaign.study) == 5
    slow = slow_minutes(campaign.study)
    for session in quick:
        append_verdict(session=session, accepted=False)
    assert estimated_minutes(campaign.study) == 6
    assert slow_minutes(campaign.study) != slow


def test_scripted_participants_are_no_measure(campaign: Campaign) -> None:
    for number in range(5):
        took(campaign, number, [1, 1, 1])
    type(campaign.study).objects.update(population="scripted")
    campaign.refresh_from_db()
    campaign.study.refresh_from_db()
    assert minutes_told(campaign) == 9
