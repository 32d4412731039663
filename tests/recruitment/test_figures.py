"""Places, people, money and wages of a study, each against a value worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from humanexp.ledger.budgets import budget_of
from humanexp.ledger.figures import figures_of, is_recruiting, money_of
from humanexp.ledger.models import Payment
from humanexp.ledger.payments import tally_of
from humanexp.ledger.wages import wage_of
from humanexp.participation.models import Response, Session
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.people import person_for
from humanexp.recruiting.extension import stop
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db
MARKET = "https://market.example.org"
#: Seconds before each answer: two minutes of work.
QUICK = (60, 30, 30)


@pytest.fixture
def study(settings: Any) -> Study:
    settings.MARKETPLACE_URL = MARKET
    return make_study()


def marketplace(study: Study, places: int = 6, reward_cents: int = 100) -> Campaign:
    campaign = publish(
        study=study,
        terms=LaunchTerms(to="marketplace", assignments=places, reward_cents=reward_cents, cap_cents=100_000),
    )
    size = campaign.hits.get()
    Campaign.objects.filter(pk=campaign.pk).update(assignments_per_hit=size.max_assignments)
    return campaign


def begins(campaign: Campaign, name: str) -> Visitor:
    visitor = Visitor(campaign, worker_id=f"A{name}", assignment_id=f"B{name}", submit_to=MARKET)
    assert visitor.open().status_code == 201
    return visitor


def finishes(
    campaign: Campaign, name: str, state: str = "opened", gaps_s: Sequence[float] = (60, 30, 30)
) -> Assignment:
    """Two minutes of work by default; `state` is what the recruiter says of it."""
    visitor = begins(campaign, name)
    visitor.answer_all()
    at = visitor.session.opened_at
    for response, gap in zip(Response.objects.filter(session=visitor.session), gaps_s, strict=True):
        at += timedelta(seconds=gap)
        Response.objects.filter(pk=response.pk).update(received_at=at)
    is_listed = not campaign.capabilities.vouches or state not in ("opened", "returned")
    Session.objects.filter(pk=visitor.session.pk).update(completed_at=at, is_verified=is_listed)
    row = Assignment.objects.get(assignment_id=f"B{name}")
    Assignment.objects.filter(pk=row.pk).update(
        state=state, evidence="receipt" if state != "opened" else "", hit=campaign.hits.get()
    )
    row.refresh_from_db()
    return row


def unknown(campaign: Campaign, name: str, state: str = "submitted") -> Assignment:
    """Listed by the recruiter, and never seen here."""
    person = person_for(environment=campaign.environment, worker_id=f"A{name}", family=campaign.study.family)
    return Assignment.objects.create(
        environment=campaign.environment,
        assignment_id=f"B{name}",
        campaign=campaign,
        hit=campaign.hits.get(),
        person=person,
        state=state,
        evidence="unknown",
        submitted_at=timezone.now(),
    )


def approved(row: Assignment, cents: int = 100, fee: int = 20, kind: str = "reward", state: str = "confirmed") -> None:
    Assignment.objects.filter(pk=row.pk).update(state="approved")
    Payment.objects.create(
        environment=row.environment,
        assignment=row,
        campaign=row.campaign,
        kind=kind,
        cause=f"{kind}-{cents}",
        amount_cents=cents,
        fee_cents=fee,
        state=state,
        token=f"{kind}-{row.pk}-{cents}",
    )


def stopped(campaign: Campaign) -> Campaign:
    Campaign.objects.filter(pk=campaign.pk).update(state="stopped", stopped_at=timezone.now())
    campaign.refresh_from_db()
    return campaign


def steps(study: Study) -> list[tuple[int, ...]]:
    funnels = figures_of(study).funnels
    return [(one.began, one.finished, one.submitted, one.approved, one.unmatched) for one in funnels]


class TestPeople:
    def test_of_a_recruiter(self, study: Study) -> None:
        campaign = marketplace(study)
        begins(campaign, "ONE")
        finishes(campaign, "TWO")
        finishes(campaign, "THREE", "submitted")
        approved(finishes(campaign, "FOUR", "submitted"))
        assert steps(study) == [(4, 3, 2, 1, 0)]
        assert figures_of(study).done == 2

    def test_unmatched_submissions_stand_apart(self, study: Study) -> None:
        """Began 2, finished 1, three unseen submissions: no step is larger than the one before."""
        campaign = marketplace(study)
        begins(campaign, "ONE")
        finishes(campaign, "TWO", "submitted")
        for name in ("X", "Y"):
            unknown(campaign, name)
        approved(unknown(campaign, "Z"))
        assert steps(study) == [(2, 1, 1, 0, 3)]
        assert figures_of(study).done == 1

    def test_of_a_link_there_is_no_pay_step(self, study: Study) -> None:
        campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=5))
        visitor = Visitor(campaign)
        visitor.open()
        finisher = Visitor(campaign)
        finisher.open()
        finisher.answer_all()
        sync(study=study)
        figures = figures_of(study)
        assert steps(study) == [(2, 1, 0, 0, 0)]
        assert (figures.done, figures.pays, figures.submits) == (1, False, False)

    def test_link_and_recruiter_do_not_mix(self, study: Study) -> None:
        finishes(marketplace(study), "ONE", "submitted")
        link = Visitor(publish(study=study, terms=LaunchTerms(to="link", assignments=5)))
        link.open()
        assert steps(study) == [(1, 1, 1, 0, 0), (1, 0, 0, 0, 0)]


class TestPlaces:
    def test_open_taken_and_ended(self, study: Study) -> None:
        campaign = marketplace(study, places=6)
        for name in ("ONE", "TWO"):
            finishes(campaign, name, "submitted")
        places = figures_of(study).places
        assert (places.offered, places.taken, places.open, places.ended, places.planned) == (6, 2, 4, 0, 6)
        stopped(campaign)
        places = figures_of(study).places
        assert (places.offered, places.taken, places.open, places.ended, places.planned) == (6, 2, 0, 4, 2)

    def test_of_a_study_that_is_stopped_in_part(self, study: Study) -> None:
        first = marketplace(study, places=6)
        finishes(first, "ONE", "submitted")
        stopped(first)
        marketplace(study, places=8)
        places = figures_of(study).places
        assert (places.offered, places.taken, places.open, places.ended, places.planned) == (14, 1, 8, 5, 9)


class TestMoney:
    def test_owed_fees_and_what_it_comes_to_at_most(self, study: Study) -> None:
        campaign = marketplace(study, places=6)  # 6 x (100 + 20)
        row = finishes(campaign, "ONE", "submitted")
        approved(row)
        approved(row, cents=250, fee=50, kind="bonus")
        finishes(campaign, "TWO", "submitted")
        begins(campaign, "THREE")
        (money,) = money_of(tally_of(study))
        assert (money.quoted_cents, money.committed_cents) == (720, 720 + 300)
        assert (money.owed_cents, money.paid_cents, money.fee_cents) == (350, 0, 70)
        assert (money.spent_cents, money.spent_extra_cents) == (420, 300)
        assert (money.open_cents, money.under_way_cents, money.submitted_cents) == (360, 120, 120)
        assert money.due_cents == 600 and money.spent_cents + money.due_cents == money.committed_cents

    def test_a_bonus_never_makes_the_spent_more_than_the_whole(self, study: Study) -> None:
        """ "$35.93 of $26.40": the whole held no bonus."""
        campaign = marketplace(study, places=1)
        row = finishes(campaign, "ONE", "submitted")
        approved(row)
        approved(row, cents=1_000, fee=200, kind="bonus")
        (money,) = money_of(tally_of(study))
        assert (money.spent_cents, money.committed_cents, money.spent_fraction) == (1_320, 1_320, 1.0)

    def test_of_a_stopped_campaign_counts_what_was_taken(self, study: Study) -> None:
        campaign = marketplace(study, places=6)
        approved(finishes(campaign, "ONE", "submitted"))
        begins(campaign, "TWO")
        stopped(campaign)
        (money,) = money_of(tally_of(study))
        assert (money.quoted_cents, money.committed_cents) == (720, 240)
        assert (money.open_cents, money.under_way_cents, money.due_cents) == (0, 120, 120)
        assert budget_of(study, "USD").committed_cents == 240

    def test_where_an_approval_pays_it_is_paid(self, study: Study) -> None:
        campaign = marketplace(study, places=1)
        approved(finishes(campaign, "ONE", "submitted"))
        Payment.objects.update(environment="production")
        (money,) = money_of(tally_of(study))
        assert (money.owed_cents, money.paid_cents, money.fee_cents) == (0, 100, 20)

    def test_planned_sending_and_refused(self, study: Study) -> None:
        campaign = marketplace(study, places=3)
        for name, state in (("ONE", "planned"), ("TWO", "sending"), ("THREE", "refused")):
            approved(finishes(campaign, name, "submitted"), state=state)
        (money,) = money_of(tally_of(study))
        assert (money.planned_cents, money.sending_cents, money.on_the_way_cents) == (120, 120, 240)
        assert (money.spent_cents, money.waiting, money.confirmed) == (0, 3, 0)

    def test_of_a_link(self, study: Study) -> None:
        publish(study=study, terms=LaunchTerms(to="link", assignments=5))
        (money,) = money_of(tally_of(study))
        assert (money.quoted_cents, money.committed_cents, money.due_cents, money.spent_fraction) == (0, 0, 0, 0.0)


class TestWage:
    def test_of_an_unpaid_study_there_is_none(self, study: Study) -> None:
        link = publish(study=study, terms=LaunchTerms(to="link", assignments=5))
        visitor = Visitor(link)
        visitor.open()
        visitor.answer_all()
        wage = wage_of(study)
        assert wage.is_unpaid and wage.hourly_median_cents is None and not wage.is_under_floor

    def test_of_zero_pay_that_was_meant(self, study: Study) -> None:
        publish(study=study, terms=LaunchTerms(to="marketplace", assignments=5, unpaid=True))
        assert wage_of(study).is_unpaid

    def test_before_a_campaign_it_is_the_suggested_one(self, study: Study) -> None:
        wage = wage_of(study)
        assert not wage.is_unpaid and wage.source == "plan"

    def test_of_people_with_their_bonuses(self, study: Study) -> None:
        campaign = marketplace(study, reward_cents=30)
        finishes(campaign, "ONE", "submitted")  # 30 cents for two minutes: 900 an hour
        slow = finishes(campaign, "TWO", "submitted", (120, 60, 60))  # four minutes: 450
        finishes(campaign, "THREE", "submitted", (360, 60, 60))  # eight minutes: 225
        wage = wage_of(study)
        assert (wage.source, wage.sessions, wage.unmeasured) == ("active", 3, 0)
        assert (wage.hourly_median_cents, wage.hourly_slow_cents) == pytest.approx((450, 337.5), abs=1)
        approved(slow, cents=20, fee=4, kind="bonus")  # 50 cents for four minutes: 750
        wage = wage_of(study)
        assert (wage.hourly_median_cents, wage.hourly_slow_cents) == pytest.approx((750, 487.5), abs=1)

    def test_of_different_rewards_each_by_their_own(self, study: Study) -> None:
        finishes(marketplace(study, reward_cents=30), "ONE", "submitted")
        finishes(marketplace(study, reward_cents=60), "TWO", "submitted")
        assert wage_of(study).hourly_median_cents == pytest.approx(1_350, abs=1)

    def test_whose_time_nobody_knows_is_said(self, study: Study) -> None:
        campaign = marketplace(study)
        finishes(campaign, "ONE", "submitted")
        unknown(campaign, "X")
        assert wage_of(study).unmeasured == 1

    def test_it_is_said_too_where_nobodys_time_is_known(self, study: Study, admin_client: Client) -> None:
        unknown(marketplace(study), "X")
        wage = wage_of(study)
        assert (wage.source, wage.sessions, wage.unmeasured) == ("plan", 0, 1)
        for page in ("", "monitor/"):
            text = admin_client.get(f"/studies/{study.slug}/{page}").content.decode()
            assert "the time of 1 person is not known" in text, page

    def test_scripted_participants_are_no_measure(self, study: Study) -> None:
        campaign = marketplace(study)
        finishes(campaign, "ONE", "submitted")
        Study.objects.update(population="scripted")
        assert wage_of(Study.objects.get()).source == "plan"


class TestRecruiting:
    def test_a_study_is_not_recruiting_once_its_last_campaign_is_stopped(self, study: Study) -> None:
        campaign = marketplace(study)
        assert is_recruiting(study)
        begins(campaign, "ONE")
        stopped(campaign)
        assert is_recruiting(study), "somebody is at work"
        Assignment.objects.update(state="returned")
        assert not is_recruiting(study)
        marketplace(study)
        assert is_recruiting(study)

    def test_its_only_link(self, study: Study) -> None:
        publish(study=study, terms=LaunchTerms(to="link", assignments=5))
        stop(study=study)
        assert not is_recruiting(study)
