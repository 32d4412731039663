"""A campaign at a real panel that pays too little, or that many people leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from analysis.study.terms import Terms
from humanexp.core import clock
from humanexp.core.errors import ApplicationError, CapExceeded, Conflict, CostNotConfirmed
from humanexp.core.models import AuditEvent, User
from humanexp.ledger.budgets import committed_cents, set_study_cap
from humanexp.ledger.decisions import top_up_equally
from humanexp.ledger.models import CampaignTopUp, Payment
from humanexp.ledger.outbox import is_paused
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import settle
from humanexp.ledger.wages import EQUAL_TOP_UP, top_up_offer
from humanexp.participation.models import Session
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting import attendance
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.attendance import verify_begun
from humanexp.recruiting.extension import extend, resume_campaign
from humanexp.recruiting.models import CampaignHold
from humanexp.recruiting.polling import sync
from humanexp.recruiting.watch import returns_of, watch, watched_terms
from humanexp.studies.models import Study
from tests.panel.server import Lab, PanelServer
from tests.recruitment.at_panel import Guest, come
from tests.recruitment.studies import make_study

Launch = Callable[..., Campaign]
PEOPLE = 4
TERMS = Terms(least_hourly_cents=900, wage_people=PEOPLE, on_return_alarm="pause")


@pytest.fixture(autouse=True)
def unlimited() -> None:
    attendance.ASKING.clear()


@pytest.fixture
def study(transactional_db: None) -> Study:
    return make_study(recruitment=TERMS)


@pytest.fixture
def boss(study: Study) -> User:
    user = User.objects.create_user("boss")
    study.memberships.create(user=user, role="owner")
    return user


def round_trip() -> None:
    """What the job does every minute."""
    sync()
    watch()
    send(environment="panel")


def finish(panel: PanelServer, campaign: Campaign, *minutes: float) -> list[Guest]:
    """People who worked for so many minutes each, and were listed."""
    guests = []
    for took in minutes:
        guest = come(panel, campaign)
        guest.finish()
        Session.objects.filter(pk=guest.visitor.session.pk).update(active_s=took * 60)
        guests.append(guest)
    sync()
    return guests


def status(lab: Lab, campaign: Campaign) -> str:
    return str(lab.get(f"studies/{campaign.hits.get().hit_id}/")["status"])


def kinds(study: Study) -> set[str]:
    return {one.kind for one in attention(study)}


def bonuses_there(panel: PanelServer, guests: list[Guest]) -> list[list[int]]:
    payments = panel.shown("books")["payments"]
    return [
        [one["amount_cents"] for one in payments if one["submission_id"] == guest.submission and one["kind"] == "bonus"]
        for guest in guests
    ]


def test_a_campaign_below_the_minimum_is_paused_by_itself_and_says_why(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study
) -> None:
    campaign = launch_at_panel(assignments=8, reward_cents=120)
    finish(panel, campaign, 10, 10, 10, 4)
    round_trip()
    assert is_paused(campaign)
    assert status(lab, campaign) == "PAUSED"
    [found] = [one for one in attention(study) if one.kind == "wage"]
    assert "7.20" in found.text and "9.00" in found.text and "paused by itself" in found.text
    assert CampaignHold.objects.get().people == PEOPLE
    assert AuditEvent.objects.filter(action="hold", by=None).count() == 1
    assert not Payment.objects.filter(cause=EQUAL_TOP_UP).exists(), "nothing is paid before somebody agrees"


@pytest.mark.parametrize("minutes", [(10, 10, 10), (7, 8, 5, 6, 90)])
def test_too_few_people_and_a_fast_crowd_never_trigger(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study, minutes: tuple[float, ...]
) -> None:
    campaign = launch_at_panel(assignments=8, reward_cents=120)
    finish(panel, campaign, *minutes)
    round_trip()
    assert not is_paused(campaign)
    assert status(lab, campaign) == "ACTIVE"
    assert not CampaignHold.objects.exists()


def test_everybody_gets_the_same_once(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study, boss: User
) -> None:
    campaign = launch_at_panel(assignments=8, reward_cents=120, cap_cents=100_000)
    guests = finish(panel, campaign, 10, 10, 12, 4)
    settle(study=study, by=boss)  # some were paid already
    round_trip()
    offer = top_up_offer(campaign)
    assert offer is not None
    assert (offer.amount_cents, offer.people, offer.later, offer.reaches_cents) == (30, 4, 4, 900)
    assert offer.total_cents == 8 * offer.each_cents
    with pytest.raises(CostNotConfirmed):
        top_up_equally(campaign=campaign, shown_total_cents=offer.total_cents - 1, by=boss)
    top_up_equally(campaign=campaign, shown_total_cents=offer.total_cents, by=boss)
    with pytest.raises(Conflict):  # the second press
        top_up_equally(campaign=campaign, shown_total_cents=offer.total_cents, by=boss)
    for _ in range(3):
        round_trip()
    assert bonuses_there(panel, guests) == [[30]] * 4
    assert "wage" not in kinds(study)
    with pytest.raises(Conflict):  # a reward that was too low is not offered to more people
        extend(campaign=campaign, places=1, by=boss)


def test_a_refused_top_up_leaves_nothing_behind(
    panel: PanelServer, launch_at_panel: Launch, study: Study, boss: User, settings: Any
) -> None:
    settings.FIRST_BONUS_CAP_CENTS = 10
    campaign = launch_at_panel(assignments=8, reward_cents=120, cap_cents=100_000)
    finish(panel, campaign, 10, 10, 10, 10)
    round_trip()
    offer = top_up_offer(campaign)
    assert offer is not None
    with pytest.raises(CapExceeded):
        top_up_equally(campaign=campaign, shown_total_cents=offer.total_cents, by=boss)
    assert not CampaignTopUp.objects.exists()
    assert not Payment.objects.filter(cause=EQUAL_TOP_UP).exists()


def test_the_caps_hold_and_say_how_far_they_reach(
    panel: PanelServer, launch_at_panel: Launch, study: Study, boss: User
) -> None:
    campaign = launch_at_panel(assignments=4, reward_cents=120)
    campaign.cap_cents = campaign.quoted_cents + 60
    campaign.save()
    finish(panel, campaign, 10, 10, 10, 10)
    round_trip()
    offer = top_up_offer(campaign)
    assert offer is not None and offer.is_capped
    assert 0 < offer.amount_cents < offer.needed_cents == 30
    assert offer.total_cents <= 60 < 4 * (offer.each_cents + 1) + 4
    assert offer.reaches_cents < 900
    top_up_equally(campaign=campaign, shown_total_cents=offer.total_cents, by=boss)
    campaign.refresh_from_db()
    assert committed_cents(campaign) <= campaign.cap_cents
    set_study_cap(study=study, cap_cents=0, currency=campaign.currency, by=boss)
    assert Payment.objects.filter(cause=EQUAL_TOP_UP).count() == 4


def test_without_any_room_nothing_is_offered(
    panel: PanelServer, launch_at_panel: Launch, study: Study, boss: User
) -> None:
    campaign = launch_at_panel(assignments=4, reward_cents=120)  # its cap is the price
    finish(panel, campaign, 10, 10, 10, 10)
    round_trip()
    offer = top_up_offer(campaign)
    assert offer is not None and (offer.amount_cents, offer.total_cents) == (0, 0)
    with pytest.raises(CapExceeded):
        top_up_equally(campaign=campaign, shown_total_cents=0, by=boss)


def test_a_second_shortfall_says_so_and_pays_nobody(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study, boss: User
) -> None:
    campaign = launch_at_panel(assignments=12, reward_cents=120, cap_cents=100_000)
    first = finish(panel, campaign, 10, 10, 10, 10)
    round_trip()
    offer = top_up_offer(campaign)
    assert offer is not None
    top_up_equally(campaign=campaign, shown_total_cents=offer.total_cents, by=boss)
    resume_campaign(campaign=campaign, by=boss)
    round_trip()
    assert status(lab, campaign) == "ACTIVE"
    later = finish(panel, campaign, 20, 20, 20, 20, 20)
    round_trip()
    assert "wage-again" in kinds(study)
    assert is_paused(campaign)
    round_trip()
    with pytest.raises(Conflict):
        top_up_equally(campaign=campaign, shown_total_cents=1, by=boss)
    assert bonuses_there(panel, [*first, *later]) == [[30]] * 9, "whoever comes later gets the same, and nobody more"


def test_whoever_opens_it_again_has_seen_it(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study, boss: User
) -> None:
    campaign = launch_at_panel(assignments=8, reward_cents=120)
    finish(panel, campaign, 10, 10, 10, 10)
    round_trip()
    resume_campaign(campaign=campaign, by=boss)
    round_trip()
    finish(panel, campaign, 11)
    round_trip()
    assert status(lab, campaign) == "ACTIVE"
    assert "wage" in kinds(study), "it is still so"


def test_a_latecomer_beyond_a_cap_waits_and_is_told_of(
    panel: PanelServer, launch_at_panel: Launch, study: Study, boss: User
) -> None:
    campaign = launch_at_panel(assignments=6, reward_cents=120, cap_cents=100_000)
    slow = come(panel, campaign)
    finish(panel, campaign, 10, 10, 10, 10)
    round_trip()
    offer = top_up_offer(campaign)
    assert offer is not None
    top_up_equally(campaign=campaign, shown_total_cents=offer.total_cents, by=boss)
    set_study_cap(study=study, cap_cents=1, currency=campaign.currency, by=boss)
    slow.finish()
    round_trip()
    assert "top-up-held" in kinds(study)
    set_study_cap(study=study, cap_cents=None, currency=campaign.currency, by=boss)
    round_trip()
    assert "top-up-held" not in kinds(study)
    assert bonuses_there(panel, [slow]) == [[30]]


def test_a_study_of_before_is_not_watched(study: Study) -> None:
    study.configuration["spec"] = 3
    study.configuration["recruitment"] = {}
    found = watched_terms(study)
    assert (found.wage_people, found.return_alarm) == (0, 1)


@pytest.mark.parametrize(("returned", "stayed", "alarms"), [(2, 1, False), (7, 1, True)])
def test_many_returned_places_raise_an_alarm_once(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study, returned: int, stayed: int, alarms: bool
) -> None:
    campaign = launch_at_panel(assignments=9, reward_cents=120)
    guests = [come(panel, campaign) for _ in range(returned + stayed)]
    sync()
    for guest in guests[:returned]:
        guest.give_back()
    round_trip()
    assert returns_of(campaign).returned == returned
    assert ("returns" in kinds(study)) is alarms
    assert is_paused(campaign) is alarms
    if alarms:
        [found] = [one for one in attention(study) if one.kind == "returns"]
        assert "7 of 8" in found.text and "30 %" in found.text
        round_trip()
        assert AuditEvent.objects.filter(action="hold").count() == 1


def test_a_warning_alone_pauses_nothing(lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study) -> None:
    study.configuration["recruitment"]["on_return_alarm"] = "warn"
    study.save()
    campaign = launch_at_panel(assignments=9, reward_cents=120)
    for guest in [come(panel, campaign) for _ in range(7)]:
        guest.give_back()
    round_trip()
    assert "returns" in kinds(study)
    assert status(lab, campaign) == "ACTIVE"


def test_made_up_ids_raise_no_alarm(panel: PanelServer, launch_at_panel: Launch, study: Study) -> None:
    from tests.recruitment.studies import Visitor

    campaign = launch_at_panel(assignments=9, reward_cents=120)
    for number in range(8):
        visitor = Visitor(campaign, worker_id=f"{number:024x}", assignment_id=f"{number + 99:024x}")
        assert visitor.open().status_code == 201
    Assignment.objects.update(opened_at=clock.now() - 2 * attendance.LISTED_WITHIN)
    verify_begun(campaign=campaign)
    round_trip()
    assert Assignment.objects.filter(state="returned").exists()
    assert returns_of(campaign).started == 0
    assert "returns" not in kinds(study)


def test_who_may_not_pay_cannot_top_up(panel: PanelServer, launch_at_panel: Launch, study: Study) -> None:
    campaign = launch_at_panel(assignments=4)
    viewer = User.objects.create_user("viewer")
    with pytest.raises(ApplicationError, match="role"):
        top_up_equally(campaign=campaign, shown_total_cents=0, by=viewer)
