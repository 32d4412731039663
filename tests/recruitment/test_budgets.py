"""Caps, extensions, wages and top-ups: money is promised in one place, and never beyond what was allowed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from analysis.campaigns import quantile
from humanexp.core.errors import CapExceeded, Conflict, CostNotConfirmed, InvalidRequest, StudyRefused
from humanexp.core.models import User
from humanexp.ledger.bonuses import compensate
from humanexp.ledger.budgets import (
    budget_of,
    committed_cents,
    month_budget,
    raise_cap,
    reserve,
    set_month_cap,
    set_study_cap,
)
from humanexp.ledger.decisions import top_up
from humanexp.ledger.figures import money_of
from humanexp.ledger.models import Call, Payment
from humanexp.ledger.payments import tally_of
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import plan_bonus, settle, try_again
from humanexp.ledger.wages import top_up_plan, wage_of
from humanexp.participation.models import Response, Session
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.people import person_for
from humanexp.recruiting import launch
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.extension import extend, prolong, quote_extension, stop
from humanexp.recruiting.launch import LaunchTerms, compare_sizes
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.marketplace.server import MarketplaceServer
from tests.recruitment.studies import Visitor, make_study
from tests.recruitment.workers import Worker

Launch = Callable[..., Campaign]
MARKET = "http://localhost:8001"


def publish(study: Study, **terms: Any) -> Campaign:
    return launch.publish(
        study=study, terms=LaunchTerms(to="marketplace", **{"assignments": 2, "reward_cents": 100, **terms})
    )


@pytest.fixture
def ada(db: None) -> User:
    """An administrator, who may do all this in every study."""
    return User.objects.create_user("ada", is_staff=True)


def submission(campaign: Campaign, number: int = 1, state: str = "submitted") -> Assignment:
    worker_id = f"AWORKER{number}"
    return Assignment.objects.create(
        campaign=campaign,
        hit=campaign.hits.first(),
        environment=campaign.environment,
        assignment_id=f"A{number}",
        person=person_for(environment=campaign.environment, worker_id=worker_id, family=campaign.study.family),
        state=state,
        evidence="session",
        opened_at=timezone.now(),
        submitted_at=timezone.now(),
    )


def bonus(assignment: Assignment, cents: int, cause: str = "care") -> Payment:
    return plan_bonus(assignment=assignment, amount_cents=cents, cause=cause, reason="For your care.")


@pytest.mark.django_db
class TestCaps:
    def test_the_studys_cap_holds_over_all_its_campaigns(self, ada: User) -> None:
        study = make_study()
        set_study_cap(study=study, cap_cents=500, by=ada)
        publish(study)  # 240
        assert budget_of(study, "USD").left_cents == 260
        with pytest.raises(CapExceeded, match=r"\$3\.60 with fees, and \$2\.60 of the study's cap of \$5\.00"):
            publish(study, assignments=3)
        assert Campaign.objects.count() == 1
        row = submission(publish(study, cap_cents=1_000))
        assert budget_of(study, "USD").left_cents == 20
        with pytest.raises(CapExceeded, match="study's cap"):
            bonus(row, 18)  # 18 + 4
        bonus(row, 16)  # 16 + 3
        assert budget_of(study, "USD").left_cents == 1
        set_study_cap(study=study, cap_cents=None, by=ada)
        assert budget_of(study, "USD").left_cents is None
        bonus(row, 100, "more")

    def test_the_months_cap_holds_over_all_studies_of_a_recruiter(self, ada: User) -> None:
        set_month_cap(environment="marketplace", cap_cents=500, by=ada)
        publish(make_study())
        other = make_study("blur")
        with pytest.raises(CapExceeded, match="month's cap"):
            publish(other, assignments=3)
        publish(other)
        assert month_budget("marketplace").committed_cents == 480
        assert month_budget("sandbox").cap_cents is None
        # last month's promises are not this month's
        Call.objects.filter(hit__campaign__study=other).update(created_at=timezone.now() - timedelta(days=40))
        assert month_budget("marketplace").committed_cents == 240
        with pytest.raises(InvalidRequest):
            set_month_cap(environment="link", cap_cents=1, by=ada)

    def test_a_stopped_campaign_gives_back_what_nobody_took(self) -> None:
        study = make_study()
        campaign = publish(study, assignments=5)
        submission(campaign)
        submission(campaign, 2, "returned")
        assert committed_cents(campaign) == 600
        Campaign.objects.update(state="stopped")
        campaign.refresh_from_db()
        assert committed_cents(campaign) == 120
        assert month_budget("marketplace").committed_cents == 120

    def test_money_is_promised_inside_the_transaction_that_plans_it(
        self, django_db_blocker: Any, transactional_db: None
    ) -> None:
        with pytest.raises(RuntimeError, match="in the transaction"):
            reserve(study=make_study(), environment="marketplace", cents=1, what="This")
        with transaction.atomic():
            reserve(study=Study.objects.get(), environment="marketplace", cents=1, what="This")

    def test_a_campaigns_cap_is_raised_and_never_below_its_promises(self, ada: User) -> None:
        campaign = publish(make_study())
        row = submission(campaign)
        with pytest.raises(CapExceeded, match="campaign's cap"):
            bonus(row, 50)
        raise_cap(campaign=campaign, cap_cents=300, by=ada)
        bonus(row, 50)
        with pytest.raises(Conflict, match=r"promised \$3.00"):
            raise_cap(campaign=campaign, cap_cents=299, by=ada)

    def test_a_refused_bonus_is_promised_anew_before_it_is_sent_again(self, ada: User) -> None:
        """While it is refused it counts against no cap: others may have been promised the money."""
        campaign = publish(make_study(), cap_cents=300)  # 240 for the places, 60 beyond them
        row = submission(campaign)
        refused, other = bonus(row, 50, "care"), 40
        Payment.objects.filter(pk=refused.pk).update(state="refused")
        bonus(row, other, "speed")
        with pytest.raises(CapExceeded, match=r"costs \$0\.60 with its fee, and \$0\.12 of the campaign's cap"):
            try_again(payment=Payment.objects.get(pk=refused.pk), by=ada)
        raise_cap(campaign=campaign, cap_cents=400, by=ada)
        set_month_cap(environment="marketplace", cap_cents=300, by=None)
        with pytest.raises(CapExceeded, match="month's cap"):
            try_again(payment=Payment.objects.get(pk=refused.pk), by=ada)
        set_month_cap(environment="marketplace", cap_cents=None, by=None)
        assert try_again(payment=Payment.objects.get(pk=refused.pk), by=ada).state == "planned"

    def test_a_compensation_is_paid_once_whatever_is_listed_meanwhile(self, ada: User) -> None:
        campaign = publish(make_study(), cap_cents=1_000)
        lost, listed = submission(campaign, 1, "returned"), submission(campaign, 2)
        Assignment.objects.filter(pk=listed.pk).update(person=lost.person)
        first = compensate(assignment=lost, by=ada)
        newer = submission(campaign, 3)
        Assignment.objects.filter(pk=newer.pk).update(person=lost.person)
        assert compensate(assignment=lost, by=ada) == first
        assert Payment.objects.count() == 1

    def test_liability_is_what_may_still_be_owed(self) -> None:
        study = make_study()
        campaign = publish(study, assignments=5, cap_cents=5_000)
        submission(campaign, 1, "opened")
        row = submission(campaign, 2)
        submission(campaign, 3, "approved")
        Payment.objects.filter(pk=bonus(row, 100).pk).update(state="confirmed")
        bonus(row, 50, "more")
        (sums,) = money_of(tally_of(study))
        assert (sums.open_cents, sums.under_way_cents, sums.submitted_cents) == (240, 120, 120)
        assert (sums.promised_extra_cents, sums.spent_cents) == (60, 120)
        assert sums.due_cents == 540


class TestExtending:
    def test_small_hits_are_filled_up_and_never_grow_to_ten(self, launch: Launch, ada: User, other_side: Any) -> None:
        campaign = launch(assignments=11, reward_cents=100)  # 9 and 2
        wanted = quote_extension(campaign=campaign, places=9)
        assert ([(hit.number, more) for hit, more in wanted.grown], wanted.new_sizes) == ([(2, 7)], (2,))
        assert wanted.total_cents == 9 * 120
        extend(campaign=campaign, places=9, by=ada, confirm_total_cents=1080)
        assert send(environment="marketplace").confirmed == 2
        assert send(environment="marketplace").confirmed == 0
        assert sorted(campaign.hits.values_list("max_assignments", flat=True)) == [2, 9, 9]
        there = [other_side.get_hit(HITId=hit.hit_id)["HIT"]["MaxAssignments"] for hit in campaign.hits.all()]
        assert sorted(there) == [2, 9, 9]
        campaign.refresh_from_db()
        assert (campaign.assignments, campaign.quoted_cents, campaign.cap_cents) == (20, 2400, 2400)

    @pytest.mark.parametrize("fault", ["drop_after_commit", "drop_before"])
    def test_a_large_hit_grows_once_whatever_is_lost(
        self, marketplace: MarketplaceServer, launch: Launch, ada: User, other_side: Any, fault: str
    ) -> None:
        campaign = launch(assignments=10, assignments_per_hit=10, reward_cents=100)
        marketplace.arm("CreateAdditionalAssignmentsForHIT", fault)
        extend(campaign=campaign, places=3, by=ada)
        assert send(environment="marketplace").waiting == 1
        assert attention(campaign.study)[0].kind == "cut-hit"
        assert send(environment="marketplace").confirmed == 1
        [hit] = campaign.hits.all()
        assert other_side.get_hit(HITId=hit.hit_id)["HIT"]["MaxAssignments"] == hit.max_assignments == 13
        campaign.refresh_from_db()
        assert campaign.quoted_cents == 13 * 140

    def test_what_an_extension_must_not_do(self, launch: Launch, ada: User) -> None:
        campaign = launch()
        for change, error in (
            ({"places": 0}, InvalidRequest),
            ({"places": 1, "confirm_total_cents": 1}, CostNotConfirmed),
            ({"places": 1, "cap_cents": campaign.cap_cents}, CapExceeded),
            ({"places": 23}, StudyRefused),
        ):
            with pytest.raises(error):
                extend(campaign=campaign, by=ada, **change)
        set_study_cap(study=campaign.study, cap_cents=300, by=ada)
        with pytest.raises(CapExceeded):
            extend(campaign=campaign, places=1, by=ada)
        stop(study=campaign.study)
        with pytest.raises(Conflict):
            extend(campaign=campaign, places=1, by=ada)
        assert Call.objects.filter(kind="extend").count() == 0

    def test_a_stop_takes_planned_extensions_back(self, launch: Launch, ada: User) -> None:
        campaign = launch()
        extend(campaign=campaign, places=2, by=ada)
        stop(study=campaign.study)
        assert send(environment="marketplace").confirmed == 1
        campaign.refresh_from_db()
        assert (campaign.state, campaign.hits.get().max_assignments) == ("stopped", 2)

    def test_a_stop_ends_though_an_extension_is_heard_of_last(
        self, marketplace: MarketplaceServer, launch: Launch, ada: User
    ) -> None:
        """Else the campaign is being stopped for ever, and all its places count against the caps."""
        campaign = launch(assignments=10, assignments_per_hit=10, reward_cents=100)
        marketplace.arm("CreateAdditionalAssignmentsForHIT", "drop_before")
        extend(campaign=campaign, places=3, by=ada)
        send(environment="marketplace")
        stop(study=campaign.study)
        marketplace.arm("GetHIT", "service_fault", times=3)  # every try to ask about the extension
        assert send(environment="marketplace").waiting == 1
        send(environment="marketplace")
        campaign.refresh_from_db()
        assert (campaign.state, budget_of(campaign.study, "USD").committed_cents) == ("stopped", 0)

    def test_an_extension_of_a_hit_that_is_gone_holds_nobody_up(
        self,
        marketplace: MarketplaceServer,
        launch: Launch,
        new_worker: Callable[[], Worker],
        ada: User,
        other_side: Any,
    ) -> None:
        campaign = launch(assignments=1, cap_cents=5_000)
        new_worker().do(campaign)
        sync(study=campaign.study)
        settle(study=campaign.study)
        send(environment="marketplace")
        extend(campaign=campaign, places=1, by=ada)
        bonus(Assignment.objects.get(), 20)
        other_side.delete_hit(HITId=campaign.hits.get().hit_id)
        send(environment="marketplace")
        assert Payment.objects.get(kind="bonus").state == "confirmed"
        assert Call.objects.get(kind="extend").state == "sending"  # states may lag behind for half an hour
        Call.objects.update(first_sent_at=timezone.now() - timedelta(hours=1))
        send(environment="marketplace")
        assert Call.objects.get(kind="extend").state == "refused"
        campaign.refresh_from_db()
        assert (campaign.assignments, campaign.quoted_cents) == (1, 144)

    def test_more_time(self, marketplace: MarketplaceServer, launch: Launch, ada: User, other_side: Any) -> None:
        campaign = launch(lifetime_s=3600)
        prolong(campaign=campaign, days=20, by=ada)
        marketplace.arm("UpdateExpirationForHIT", "drop_after_commit")
        send(environment="marketplace")
        assert send(environment="marketplace").confirmed == 1
        hit = campaign.hits.get()
        assert other_side.get_hit(HITId=hit.hit_id)["HIT"]["Expiration"] == hit.expires_at
        assert hit.expires_at is not None
        assert hit.expires_at > timezone.now() + timedelta(days=19)


@pytest.mark.django_db
class TestWages:
    @pytest.fixture
    def campaign(self, settings: Any) -> Campaign:
        settings.MARKETPLACE_URL = MARKET
        return publish(make_study(), assignments=4, reward_cents=100, cap_cents=10_000)

    def took(self, campaign: Campaign, number: int, *gaps_s: float) -> Assignment:
        """Somebody who answered so many seconds after opening, and after each answer before."""
        visitor = Visitor(campaign, worker_id=f"AWORKER{number}", assignment_id=f"A{number}", submit_to=MARKET)
        visitor.open()
        visitor.answer_all()
        at = visitor.session.opened_at
        for response, gap in zip(Response.objects.filter(session=visitor.session), gaps_s, strict=True):
            at += timedelta(seconds=gap)
            Response.objects.filter(pk=response.pk).update(received_at=at)
        Session.objects.filter(pk=visitor.session.pk).update(completed_at=at, is_verified=True)
        Assignment.objects.filter(assignment_id=f"A{number}").update(state="submitted")
        return Assignment.objects.get(assignment_id=f"A{number}")

    def test_breaks_are_no_work(self, campaign: Campaign) -> None:
        self.took(campaign, 1, 300, 30, 30)  # 6 minutes
        self.took(campaign, 2, 3600, 3600, 30)  # read for 10 minutes at most, a minute, half a minute
        wage = wage_of(campaign.study)
        assert (wage.source, wage.sessions) == ("active", 2)
        assert wage.median_minutes == pytest.approx((6 + 11.5) / 2)
        # of each person: 1,000 and 521.7 cents an hour
        assert wage.hourly_median_cents == round((1_000 + 100 * 60 / 11.5) / 2)
        assert wage.hourly_slow_cents == round(0.75 * 100 * 60 / 11.5 + 0.25 * 1_000)
        assert wage.is_under_floor

    def test_before_anybody_came_a_pilot_or_the_plan_tells(self, campaign: Campaign) -> None:
        assert wage_of(campaign.study).source == "plan"
        self.took(campaign, 1, 300, 30, 30)
        later = make_study("noise-2", family="noise")
        pilot = wage_of(later)
        assert (pilot.source, pilot.sessions, pilot.median_minutes) == ("pilot", 1, pytest.approx(6))

    def test_a_top_up_brings_everybody_to_the_floor_once(self, campaign: Campaign, ada: User, settings: Any) -> None:
        settings.WAGE_FLOOR_CENTS = 1_200
        slow, quick = self.took(campaign, 1, 300, 30, 30), self.took(campaign, 2, 60, 30, 30)
        submission(campaign, 3)  # nobody knows how long
        plan = top_up_plan(campaign.study)
        assert (plan.people, plan.cents, plan.fee_cents, plan.unknown) == (1, 20, 4, 1)  # 6 minutes of 12 dollars
        assert (plan.rows[0].assignment, plan.rows[0].hourly_cents) == (slow.pk, 1_000)
        with pytest.raises(CostNotConfirmed):
            top_up(study=campaign.study, confirm_total_cents=23, by=ada)
        top_up(study=campaign.study, confirm_total_cents=24, by=ada)
        assert list(Payment.objects.values_list("assignment", "amount_cents", "cause")) == [
            (slow.pk, 20, "top-up-1200")
        ]
        with pytest.raises(Conflict, match="No one is below"):
            top_up(study=campaign.study, by=ada)
        top_up(study=campaign.study, floor_cents=3_000, by=ada)  # the difference alone
        paid = dict(Payment.objects.filter(cause="top-up-3000").values_list("assignment", "amount_cents"))
        assert paid == {slow.pk: 180}  # two minutes of the quick one are a dollar, which they have
        assert Payment.objects.filter(assignment=quick).count() == 0

    def test_a_top_up_beyond_a_cap_pays_nobody(self, campaign: Campaign, ada: User) -> None:
        for number in (1, 2):
            self.took(campaign, number, 600, 60, 60)
        set_study_cap(study=campaign.study, cap_cents=500, by=ada)
        with pytest.raises(CapExceeded):
            top_up(study=campaign.study, floor_cents=1_500, by=ada)
        assert not Payment.objects.exists()


def test_quantiles() -> None:
    assert [quantile([1.0, 2.0, 4.0], share) for share in (0, 0.5, 0.75, 1)] == [1, 2, 3, 4]


def test_sizes_are_compared() -> None:
    sizes = compare_sizes(to="marketplace", assignments=20, reward_cents=100)
    assert (sizes.small.total_cents, sizes.large.total_cents, sizes.saved_cents) == (2400, 2800, 400)
