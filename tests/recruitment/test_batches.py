"""Places in batches: on the in-memory recruiter with a clock that the test moves, and at a real panel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction

from analysis.errors import InvalidInput
from analysis.study.terms import Terms
from humanexp.core import clock
from humanexp.core.errors import ApplicationError
from humanexp.core.models import User
from humanexp.ledger.models import Call
from humanexp.ledger.sender import send
from humanexp.recruiters.memory import Memory
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.registry import registered
from humanexp.recruiting import attendance
from humanexp.recruiting.batches import batch_standing, continue_batches, open_batches, opened_places
from humanexp.recruiting.extension import extend, pause_campaign, resume_campaign, stop_campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.models import CampaignHold, HoldReason, PlaceBatch
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.clocks import HandClock
from tests.panel.server import Lab, PanelServer
from tests.recruitment.at_panel import come
from tests.recruitment.studies import make_study

pytestmark = pytest.mark.django_db(transaction=True)
NOON = datetime(2026, 11, 26, 12, 30, tzinfo=UTC)
BATCHES = Terms(batch_places=4, batch_every_hours=6, batch_from_hour=8, batch_until_hour=20, wage_people=0)


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    found = HandClock(NOON)
    monkeypatch.setattr(clock, "system_clock", found)
    return found


@pytest.fixture
def memory() -> Iterator[Memory]:
    kind = Memory()
    with registered(kind):
        yield kind


@pytest.fixture
def study(transactional_db: None) -> Study:
    return make_study("batches", recruitment=BATCHES)


@pytest.fixture
def boss(study: Study) -> User:
    user = User.objects.create_user("boss")
    study.memberships.create(user=user, role="owner")
    return user


def launch(study: Study, places: int = 10) -> Campaign:
    terms = LaunchTerms(to="memory", assignments=places, assignments_per_hit=places, reward_cents=50, cap_cents=10_000)
    campaign = publish(study=study, terms=terms)
    send(environment="memory")
    return campaign


def run_job() -> int:
    """What the job does every minute."""
    opened = open_batches()
    send()
    return opened


def there(memory: Memory, campaign: Campaign) -> int:
    return memory.of("memory").offer(campaign.hits.get().hit_id).places


def held(campaign: Campaign) -> str:
    standing = batch_standing(campaign)
    assert standing is not None
    return standing.held_by


@pytest.mark.verify
def test_places_open_in_batches_in_the_hours_of_the_plan_and_never_more(
    study: Study, memory: Memory, hand: HandClock
) -> None:
    campaign = launch(study)
    assert (there(memory, campaign), campaign.assignments, campaign.quoted_cents) == (4, 10, 550)
    seen = []
    for hour in range(1, 100):
        hand.go(hours=1)
        run_job()
        if there(memory, campaign) != (seen[-1][1] if seen else 4):
            seen.append((hour, there(memory, campaign)))
    # 18:30; then 0:30 is too late in the day, so from 8:00, which the job of 8:30 sees
    assert seen == [(6, 8), (20, 10)]
    assert list(PlaceBatch.objects.values_list("number", "places")) == [(1, 4), (2, 4), (3, 2)]
    campaign.refresh_from_db()
    assert (campaign.assignments, campaign.quoted_cents) == (10, 550)


def test_a_job_that_runs_twice_or_dies_opens_nothing_twice(study: Study, memory: Memory, hand: HandClock) -> None:
    campaign = launch(study)
    hand.go(hours=6)
    with pytest.raises(KeyboardInterrupt), transaction.atomic():  # killed before it has stored anything
        open_batches()
        raise KeyboardInterrupt
    assert PlaceBatch.objects.count() == 1
    assert open_batches() == 1  # killed before it has sent anything
    assert there(memory, campaign) == 4
    hand.go(hours=6)
    assert open_batches() == 0, "one is on its way"
    send()
    send()
    assert there(memory, campaign) == 8
    hand.go(hours=12)
    assert [run_job() for _ in range(3)] == [1, 0, 0]
    assert there(memory, campaign) == 10


def test_after_days_without_a_job_one_batch_is_opened(study: Study, memory: Memory, hand: HandClock) -> None:
    campaign = launch(study)
    hand.go(days=1)
    assert [run_job() for _ in range(3)] == [1, 0, 0]
    assert there(memory, campaign) == 8


def test_an_alarm_stops_the_batches_until_somebody_has_looked(
    study: Study, memory: Memory, hand: HandClock, boss: User
) -> None:
    campaign = launch(study)
    CampaignHold.objects.create(campaign=campaign, reason=HoldReason.RETURNS, measured=3, limit=30, people=4)
    hand.go(hours=6)
    assert run_job() == 0
    assert "give their places back" in held(campaign)
    viewer = User.objects.create_user("viewer")
    with pytest.raises(ApplicationError):
        continue_batches(campaign=campaign, by=viewer)
    assert run_job() == 0
    continue_batches(campaign=campaign, by=boss)
    assert not held(campaign)
    assert run_job() == 1


def test_a_low_wage_that_is_over_stops_nothing(study: Study, memory: Memory, hand: HandClock) -> None:
    campaign = launch(study)
    CampaignHold.objects.create(
        campaign=campaign, reason=HoldReason.WAGE, measured=3, limit=30, people=4, ended_at=clock.now()
    )
    hand.go(hours=6)
    assert run_job() == 1


def test_a_stopped_campaign_opens_none(study: Study, memory: Memory, hand: HandClock) -> None:
    campaign = launch(study)
    stop_campaign(campaign=campaign, by=None)
    hand.go(hours=6)
    assert run_job() == 0
    assert there(memory, campaign) == 4


def test_more_places_come_in_batches_too(study: Study, memory: Memory, hand: HandClock) -> None:
    campaign = launch(study, places=6)
    extend(campaign=campaign, places=3, by=None)
    send()
    assert there(memory, campaign) == 4
    for _ in range(4):
        hand.go(hours=24)
        run_job()
    assert there(memory, campaign) == 9


def test_without_batches_all_are_opened(transactional_db: None, memory: Memory, hand: HandClock) -> None:
    campaign = launch(make_study("at-once"))
    assert there(memory, campaign) == 10
    assert batch_standing(campaign) is None
    hand.go(hours=24)
    assert run_job() == 0


def test_a_place_that_costs_more_in_a_larger_offer_is_opened_at_once(study: Study) -> None:
    terms = LaunchTerms(to="link", assignments=10)
    campaign = publish(study=study, terms=terms)
    assert opened_places(campaign) == 10
    assert not campaign.batches.exists()


@pytest.mark.parametrize(
    "stated", [{"batch_every_hours": 3}, {"batch_places": 2, "batch_from_hour": 8, "batch_until_hour": 8}]
)
def test_terms_that_make_no_sense_are_refused(stated: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Terms.from_dict(stated)


# At the panel, in real time -------------------------------------------------------------------------------------


def make_due(campaign: Campaign) -> None:
    PlaceBatch.objects.filter(campaign=campaign).update(opened_at=clock.now() - timedelta(days=2))


def places(lab: Lab, campaign: Campaign) -> int:
    return int(lab.get(f"studies/{campaign.hits.get().hit_id}/")["total_available_places"])


@pytest.fixture
def any_hour(study: Study) -> None:
    attendance.ASKING.clear()
    study.configuration["recruitment"] |= {"batch_from_hour": 0, "batch_until_hour": 24}
    study.save(update_fields=["configuration"])


def test_the_panel_is_given_totals_and_a_lost_answer_adds_nothing(
    lab: Lab, panel: PanelServer, any_hour: None, launch_at_panel: Callable[..., Campaign]
) -> None:
    campaign = launch_at_panel(assignments=10)
    assert places(lab, campaign) == 4
    make_due(campaign)
    panel.arm("study.PATCH", "lost_after", times=1)
    assert open_batches() == 1
    send(environment="panel")
    assert Call.objects.filter(kind="extend").exclude(state="confirmed").exists()
    assert open_batches() == 0
    send(environment="panel")
    assert places(lab, campaign) == 8
    make_due(campaign)
    assert run_job() == 1
    assert (places(lab, campaign), run_job()) == (10, 0)


def test_batches_pause_with_the_campaign(
    lab: Lab, panel: PanelServer, any_hour: None, launch_at_panel: Callable[..., Campaign], boss: User
) -> None:
    campaign = launch_at_panel(assignments=10)
    pause_campaign(campaign=campaign, by=boss)
    send(environment="panel")
    make_due(campaign)
    assert run_job() == 0
    assert "paused" in held(campaign)
    resume_campaign(campaign=campaign, by=boss)
    send(environment="panel")
    assert run_job() == 1
    assert places(lab, campaign) == 8


def test_the_next_batch_opens_a_study_again_whose_places_are_all_taken(
    lab: Lab, panel: PanelServer, any_hour: None, launch_at_panel: Callable[..., Campaign]
) -> None:
    campaign = launch_at_panel(assignments=6)
    for _ in range(4):
        come(panel, campaign).finish()
    sync()
    assert lab.get(f"studies/{campaign.hits.get().hit_id}/")["status"] == "AWAITING REVIEW"
    make_due(campaign)
    assert run_job() == 1
    come(panel, campaign).finish()
    sync()
    assert campaign.assignments_taken.filter(state="submitted").count() == 5
