"""A recruiter removes HITs 120 days after their end: who has left something open there is told in time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.test import Client

from humanexp.core import clock
from humanexp.core.models import User
from humanexp.recruitment import selectors, services
from humanexp.recruitment.models import Assignment, Campaign, Hit, Payment
from humanexp.recruitment.selectors import Attention
from humanexp.recruitment.states import AssignmentState, HitState, WriteState

pytestmark = pytest.mark.django_db


class Day:
    """A clock that stands still."""

    def __init__(self, now: datetime) -> None:
        self.time = now

    def now(self) -> datetime:
        return self.time


@pytest.fixture
def hit(launched: Campaign) -> Hit:
    """Published, closed by its end, and asked about since."""
    ends = launched.launched_at + timedelta(days=7)
    Campaign.objects.update(environment="production")
    launched.hits.update(environment="production", hit_id="HIT1", state=HitState.CLOSED, expires_at=ends)
    return launched.hits.get()


@pytest.fixture
def after(monkeypatch: pytest.MonkeyPatch, hit: Hit) -> Callable[[int], list[Attention]]:
    """What is said so many days after the end of the HIT."""

    def told(days: int) -> list[Attention]:
        assert hit.expires_at is not None
        monkeypatch.setattr(clock, "system_clock", Day(hit.expires_at + timedelta(days=days)))
        return [found for found in selectors.attention(hit.campaign.study) if found.kind == "removal"]

    return told


def test_a_submission_that_nobody_decided_about_is_told_thirty_days_before(
    submission: Callable[..., Assignment], hit: Hit, after: Callable[[int], list[Attention]]
) -> None:
    row = submission()
    Assignment.objects.update(environment="production", submitted_at=hit.expires_at)
    assert after(89) == []
    [told] = after(90)
    assert hit.expires_at is not None
    day = hit.expires_at + timedelta(days=120)
    assert (
        f"removes 1 HIT of this study on {day:%-d %B %Y}" in told.text and "1 submission is not decided." in told.text
    )
    assert "MTurk production" in told.text and "the answers stay here" in told.resolution
    Assignment.objects.filter(pk=row.pk).update(state=AssignmentState.APPROVED)
    assert after(90) == []


def test_a_full_hit_is_counted_from_its_last_submission(
    submission: Callable[..., Assignment], hit: Hit, after: Callable[[int], list[Attention]]
) -> None:
    submission()
    assert hit.expires_at is not None
    Assignment.objects.update(submitted_at=hit.expires_at - timedelta(days=5))
    assert after(84) == [] and len(after(85)) == 1


def test_a_hit_that_was_not_asked_about_and_a_payment_that_is_not_confirmed(
    submission: Callable[..., Assignment], hit: Hit, after: Callable[[int], list[Attention]], researcher: User
) -> None:
    row = submission()
    Campaign.objects.update(cap_cents=5_000)
    services.plan_bonus(assignment=row, amount_cents=30, cause="thanks", reason="Clean answers.", by=researcher)
    Assignment.objects.update(state=AssignmentState.APPROVED)
    [told] = after(91)
    assert "1 payment is not confirmed." in told.text
    Hit.objects.update(state=HitState.OPEN)
    assert "1 payment is not confirmed, 1 HIT was not asked about since its end." in after(91)[0].text
    late = after(120)[0]
    assert late.tone == "bad" and "another way" in late.resolution
    Payment.objects.update(state=WriteState.CONFIRMED)
    assert after(120)[0].tone == "note", "nothing more can be done, and nobody waits for money"


def test_the_pages_of_the_study_say_it_with_a_button(
    console: Client, submission: Callable[..., Assignment], hit: Hit, after: Callable[[int], list[Attention]]
) -> None:
    submission()
    after(100)
    slug = hit.campaign.study.slug
    for page in ("monitor/", "recruit/"):
        shown = console.get(f"/studies/{slug}/{page}").content.decode()
        assert "120 days after its end" in shown and f"/studies/{slug}/monitor/sync/" in shown
    assert "120 days after its end" in console.get(f"/studies/{slug}/").content.decode()
