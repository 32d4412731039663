"""Money under replies that are none, payments made by hand and an account without money."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from humanexp.core.models import User
from humanexp.ledger import sender
from humanexp.ledger.budgets import committed_cents
from humanexp.ledger.models import Call, Difference, Payment
from humanexp.ledger.reconciliation import open_differences, reconcile
from humanexp.ledger.rejections import reject
from humanexp.ledger.settlement import plan_bonus, settle
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.states import DifferenceState, WriteState
from humanexp.recruiting.people import notify
from humanexp.recruiting.polling import refresh_balance, sync
from humanexp.studies.models import Study
from tests.faults.liar import Liar, lying
from tests.marketplace.server import MarketplaceServer, RequesterKeys
from tests.recruitment.studies import make_study
from tests.recruitment.workers import Worker

Launch = Callable[..., Campaign]
NewWorker = Callable[[], Worker]
#: Lies after which a payment was, or was not, carried out.
BAD_REPLIES = ["html", "cut", "empty", "no-id", "portal", "of-another", "unsaid"]


@pytest.fixture
def study(transactional_db: None) -> Study:
    return make_study()


@pytest.fixture
def liar(marketplace: MarketplaceServer) -> Iterator[Liar]:
    with lying(marketplace.url) as found:
        yield found


@pytest.fixture
def step_in(liar: Liar, settings: Any) -> Callable[[], None]:
    """From now on the recruiter is reached through the liar; people go on as before."""

    def between() -> None:
        settings.MARKETPLACE_URL = liar.url

    return between


def send() -> Any:
    return sender.send(environment="marketplace")


def submitted(campaign: Campaign, new_worker: NewWorker, count: int = 1) -> list[Assignment]:
    for _ in range(count):
        new_worker().do(campaign)
    sync(study=campaign.study)
    send()
    return list(Assignment.objects.filter(campaign=campaign, state="submitted").order_by("pk"))


def bonus_for(row: Assignment, cents: int = 33, cause: str = "care") -> Payment:
    return plan_bonus(assignment=row, amount_cents=cents, cause=cause, reason="For your care.")


def bonuses(other_side: Any, row: Assignment) -> list[str]:
    listed = other_side.list_bonus_payments(AssignmentId=row.assignment_id)["BonusPayments"]
    return sorted(bonus["BonusAmount"] for bonus in listed)


def status(other_side: Any, row: Assignment) -> str:
    found: str = other_side.get_assignment(AssignmentId=row.assignment_id)["Assignment"]["AssignmentStatus"]
    return found


class TestRepliesThatAreNone:
    @pytest.mark.parametrize("lie", BAD_REPLIES)
    def test_confirm_no_payment_that_was_not_made(
        self,
        launch: Launch,
        new_worker: NewWorker,
        other_side: Any,
        liar: Liar,
        step_in: Callable[[], None],
        lie: str,
    ) -> None:
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        settle(study=campaign.study)
        bonus_for(row)
        step_in()
        refresh_balance(environment="marketplace")  # another call's reply
        for operation in ("ApproveAssignment", "SendBonus"):
            liar.tell(operation, lie)
        report = send()
        assert liar.told[lie] == 2
        assert report.confirmed == 0
        assert set(Payment.objects.values_list("state", flat=True)) == {WriteState.SENDING}
        assert send().confirmed == 2
        assert (status(other_side, row), bonuses(other_side, row)) == ("Approved", ["0.33"])
        assert reconcile(environment="marketplace")[0].adds_up

    @pytest.mark.parametrize("lie", ["html", "cut", "renamed"])
    def test_publish_a_hit_once(
        self,
        launch: Launch,
        other_side: Any,
        liar: Liar,
        step_in: Callable[[], None],
        lie: str,
    ) -> None:
        step_in()
        liar.tell("CreateHITWithHITType", lie)
        campaign = launch()
        assert Call.objects.get().state == WriteState.SENDING
        assert send().confirmed == 1
        pages = other_side.get_paginator("list_hits").paginate(MaxResults=100)
        titled = [hit["HITId"] for page in pages for hit in page["HITs"] if hit["Title"] == campaign.title]
        assert titled == [campaign.hits.get().hit_id]

    @pytest.mark.parametrize("operation", ["ListAssignmentsForHIT", "ListBonusPayments"])
    @pytest.mark.parametrize("lie", ["cut", "empty", "html", "of-another"])
    def test_open_no_difference_and_pause_nothing(
        self,
        launch: Launch,
        new_worker: NewWorker,
        liar: Liar,
        step_in: Callable[[], None],
        operation: str,
        lie: str,
    ) -> None:
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        settle(study=campaign.study)
        bonus_for(row)
        assert send().confirmed == 2
        Payment.objects.update(confirmed_at=timezone.now() - timedelta(hours=1))
        step_in()
        liar.tell(operation, lie, times=3)
        [book] = reconcile(environment="marketplace")
        assert (book.differences, book.hits_unread) == ([], 1)
        assert not Difference.objects.exists()
        assert reconcile(environment="marketplace")[0].payments == 2

    def test_about_one_hit_leave_the_others_polled(
        self,
        launch: Launch,
        new_worker: NewWorker,
        liar: Liar,
        step_in: Callable[[], None],
    ) -> None:
        first = launch(assignments=2, assignments_per_hit=1)
        for number in (1, 2):
            new_worker().do(first, hit_number=number)
        step_in()
        liar.tell("GetHIT", "cut", times=3)
        report = sync()
        assert (report.submitted, report.hits) == (1, 1)
        assert "GetHIT" in report.remarks[0]
        assert sync().submitted == 1

    def test_a_read_is_repeated_before_it_is_given_up(
        self, launch: Launch, liar: Liar, step_in: Callable[[], None]
    ) -> None:
        campaign = launch()
        step_in()
        for lie in ("html", "cut"):
            liar.tell("GetHIT", lie)
        assert sync(study=campaign.study).remarks == []


class TestPaidByHand:
    @pytest.fixture
    def differing(
        self,
        launch: Launch,
        new_worker: NewWorker,
        other_side: Any,
    ) -> list[Assignment]:
        """Two people; to the first a bonus was paid on the recruiter's own page."""
        campaign = launch(cap_cents=1_000)
        rows = submitted(campaign, new_worker, 2)
        settle(study=campaign.study)
        send()
        person = rows[0].person
        assert person is not None
        other_side.send_bonus(
            WorkerId=person.worker_id, AssignmentId=rows[0].assignment_id, BonusAmount="0.77", Reason="by hand"
        )
        reconcile(environment="marketplace")
        return rows

    @pytest.fixture
    def console(self, study: Study) -> Client:
        payer = User.objects.create_user("paul", password="x")
        study.memberships.create(user=payer, role="payer")
        client = Client()
        client.force_login(payer)
        return client

    def address(self, difference: Difference) -> str:
        slug = difference.hit.campaign.study.slug
        return f"/studies/{slug}/monitor/ledger/differences/{difference.pk}/"

    def answer(self, difference: Difference, resolution: str, **more: str) -> dict[str, str]:
        figures = {
            "ours": "" if difference.ours_cents is None else str(difference.ours_cents),
            "theirs": "" if difference.theirs_cents is None else str(difference.theirs_cents),
        }
        return {"resolution": resolution, "note": "Paid on the phone.", **figures, **more}

    def test_waits_for_a_person_and_keeps_nobody_else_waiting(
        self,
        differing: list[Assignment],
        other_side: Any,
        console: Client,
    ) -> None:
        hers, his = differing
        bonus_for(hers), bonus_for(his)
        report = send()
        assert (report.confirmed, report.waiting) == (1, 1)
        assert (bonuses(other_side, hers), bonuses(other_side, his)) == (["0.77"], ["0.33"])
        difference = Difference.objects.get()
        page = console.get(f"/studies/{hers.campaign.study.slug}/monitor/ledger/").content.decode()
        assert "$0.77" in page and self.address(difference) in page
        reply = console.post(self.address(difference), self.answer(difference, "explained"))
        assert reply.status_code == 302
        difference.refresh_from_db()
        assert (difference.state, difference.note) == (DifferenceState.EXPLAINED, "Paid on the phone.")
        assert str(difference.resolved_by) == "paul"
        [book] = reconcile(environment="marketplace")
        assert (book.adds_up, book.resolved) == (True, 1)
        assert send().confirmed == 1
        assert bonuses(other_side, hers) == ["0.33", "0.77"]

    def test_is_adopted_and_counts_against_the_cap(self, differing: list[Assignment], console: Client) -> None:
        campaign, difference = differing[0].campaign, Difference.objects.get()
        before = committed_cents(campaign)
        unconfirmed = console.post(self.address(difference), self.answer(difference, "adopted"))
        assert unconfirmed.status_code == 422 and b"tick" in unconfirmed.content
        reply = console.post(self.address(difference), self.answer(difference, "adopted", confirm="1"))
        assert reply.status_code == 302
        adopted = Payment.objects.get(kind="bonus")
        assert (adopted.state, adopted.amount_cents, adopted.reason) == (WriteState.CONFIRMED, 77, "by hand")
        assert committed_cents(campaign) == before + adopted.cost_cents
        [book] = reconcile(environment="marketplace")
        assert (book.adds_up, book.ledger_cents, book.resolved) == (True, book.theirs_cents, 0)
        assert not open_differences(campaign.study).exists()

    def test_figures_that_changed_meanwhile_are_looked_at_again(
        self, differing: list[Assignment], console: Client
    ) -> None:
        difference = Difference.objects.get()
        stale = self.answer(difference, "explained", theirs="78")
        reply = console.post(self.address(difference), stale)
        assert reply.status_code == 409 and b"have changed" in reply.content
        difference.refresh_from_db()
        assert difference.is_open

    def test_what_the_ledger_has_and_they_do_not_is_paid_after_all(
        self,
        differing: list[Assignment],
        other_side: Any,
        console: Client,
    ) -> None:
        """As after a reply that was believed and was none."""
        his = differing[1]
        believed = bonus_for(his)
        Payment.objects.filter(pk=believed.pk).update(
            state="confirmed", confirmed_at=timezone.now() - timedelta(days=1)
        )
        reconcile(environment="marketplace")
        difference = Difference.objects.get(kind="not-there")
        reply = console.post(self.address(difference), self.answer(difference, "adopted", confirm="1"))
        assert reply.status_code == 302
        send()
        Payment.objects.filter(pk=believed.pk).update(missed_at=timezone.now() - timedelta(minutes=2))
        assert send().confirmed == 1
        assert bonuses(other_side, his) == ["0.33"]

    def test_it_is_for_who_pays(self, differing: list[Assignment], study: Study) -> None:
        client, difference = Client(), Difference.objects.get()
        for role, status in (("viewer", 403), ("reviewer", 200)):
            user = User.objects.create_user(role)
            study.memberships.create(user=user, role=role)
            client.force_login(user)
            page = client.get(self.address(difference))
            assert page.status_code == status and (b"$0.77" in page.content) is (status == 200)
            assert client.post(self.address(difference), self.answer(difference, "explained")).status_code == 403
        difference.refresh_from_db()
        assert difference.is_open


def test_an_unfunded_bonus_holds_up_no_reward_rejection_or_message(
    marketplace: MarketplaceServer,
    launch: Launch,
    new_worker: NewWorker,
    other_side: Any,
    use_keys: Callable[[RequesterKeys], None],
    settings: Any,
) -> None:
    keys = marketplace.create_requester("A lab short of money", "5.50")
    use_keys(keys)
    campaign = launch(assignments=3, cap_cents=9_000)  # holds 4.32
    rewarded, refused, written = submitted(campaign, new_worker, 3)
    bonus_for(rewarded, 500, "planned first")
    evidence = "Every answer was given before the picture was shown, in all three trials."
    by = User.objects.create_user("olga")
    campaign.study.memberships.create(user=by, role="owner")
    reject(assignment=refused, reason="Answers came before the pictures.", by=by, evidence=evidence)
    settle(study=campaign.study)
    notify(assignments=[rewarded], subject="Thank you", text="It is paid.", by=by)
    report = send()
    there = marketplace.client(keys)
    assert [status(there, row) for row in (rewarded, refused, written)] == ["Approved", "Rejected", "Approved"]
    assert report.told == 1
    assert report.waiting == 1
    bonus = Payment.objects.get(kind="bonus")
    assert (bonus.state, bonus.attempts) == (WriteState.PLANNED, 0)
