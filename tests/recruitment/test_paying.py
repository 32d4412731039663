"""Payments and bonuses through the outbox: replies are lost, keys are wrong. Paid once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from humanexp.core.errors import CapExceeded
from humanexp.core.models import AuditEvent
from humanexp.ledger.figures import payment_summary
from humanexp.ledger.models import Call, Payment
from humanexp.ledger.reconciliation import reconcile
from humanexp.ledger.settlement import plan_bonus, settle
from humanexp.recruiters.models import Campaign, Pause, RecruiterAccount
from humanexp.recruiters.states import HitState, WriteState
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.polling import sync
from tests.limits import LIMIT
from tests.marketplace.server import MarketplaceServer, RequesterKeys
from tests.recruitment.outbox import FAULTS, Launch, NewWorker, bonuses, send, submitted


class TestPaying:
    @pytest.mark.gate
    @pytest.mark.promise(2)
    def test_everyone_who_submitted_is_paid_once(self, launch: Launch, new_worker: NewWorker, other_side: Any) -> None:
        campaign = launch()
        rows = submitted(campaign, new_worker, 2)
        assert {row.evidence for row in rows} == {"receipt"}
        assert settle(study=campaign.study).sums == {"USD": 288}
        assert settle(study=campaign.study).planned == 0
        assert send().confirmed == 2
        assert settle(study=campaign.study).planned == 0
        assert send().confirmed == 0
        assert {row["AssignmentStatus"] for row in _listed(other_side, campaign)} == {"Approved"}
        assert payment_summary(campaign.study) == {
            "approved": 2,
            "rejected": 0,
            "bonuses": 0,
            "currency": "USD",
            "owed_cents": 240,
            "paid_cents": 0,
            "fee_cents": 48,
            "total_cents": 288,
            "by_currency": {"USD": {"owed_cents": 240, "paid_cents": 0, "fee_cents": 48, "total_cents": 288}},
        }

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_lost_reply_to_an_approval(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, other_side: Any, fault: str
    ) -> None:
        campaign = launch()
        submitted(campaign, new_worker)
        settle(study=campaign.study)
        marketplace.arm("ApproveAssignment", fault)
        send()
        send()
        payment = Payment.objects.get()
        assert payment.state == WriteState.CONFIRMED
        assert payment.assignment.state == "approved"
        assert _listed(other_side, campaign)[0]["AssignmentStatus"] == "Approved"

    @pytest.mark.parametrize("fault", FAULTS)
    @pytest.mark.gate
    @pytest.mark.promise(2)
    def test_a_lost_reply_to_a_bonus_pays_once(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, other_side: Any, fault: str
    ) -> None:
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        for _ in range(2):
            plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        marketplace.arm("SendBonus", fault)
        send()
        assert bonuses(other_side, row) == ([] if fault in ("drop_before", "service_fault", "throttle") else ["0.33"])
        send()
        assert bonuses(other_side, row) == ["0.33"]
        payment = Payment.objects.get()
        assert payment.state == WriteState.CONFIRMED
        assert payment.token.startswith("marketplace-bonus-")

    def test_many_payments_through_many_faults(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(assignments=6, cap_cents=5_000)
        rows = submitted(campaign, new_worker, 6)
        settle(study=campaign.study)
        for row in rows:
            plan_bonus(assignment=row, amount_cents=50, cause="care", reason="For your care.")
        for operation in ("ApproveAssignment", "SendBonus"):
            for fault in ("drop_after_commit", "drop_before", "service_fault", "drop_after_commit"):
                marketplace.arm(operation, fault)
        for _ in range(6):
            send()
        assert set(Payment.objects.values_list("state", flat=True)) == {WriteState.CONFIRMED}
        assert [bonuses(other_side, row) for row in rows] == [["0.50"]] * 6
        [book] = reconcile(environment="marketplace")
        assert (book.ledger_cents, book.theirs_cents, book.payments) == (6 * 170, 6 * 170, 12)
        assert book.adds_up

    def test_the_order_of_the_ledger_is_not_forgotten_with_the_token(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        """A day later the recruiter has forgotten the token: the row is asked about twice, then sent again."""
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        marketplace.arm("SendBonus", "drop_before")
        send()
        Payment.objects.update(first_sent_at=timezone.now() - timedelta(hours=21))
        assert "asked once more" in send().remarks[0]
        assert "asked once more" in send().remarks[0]  # a minute has not passed
        assert bonuses(other_side, row) == []
        Payment.objects.update(missed_at=timezone.now() - timedelta(minutes=2))
        assert send().confirmed == 1
        assert bonuses(other_side, row) == ["0.33"]
        assert AuditEvent.objects.filter(action="send-again").count() == 1

    def test_a_day_later_a_bonus_that_was_paid_is_found(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        marketplace.arm("SendBonus", "drop_after_commit")
        send()
        marketplace.advance(30 * 3600)
        Payment.objects.update(first_sent_at=timezone.now() - timedelta(hours=30))
        assert send().confirmed == 1
        assert bonuses(other_side, row) == ["0.33"]

    def test_a_bonus_beyond_the_cap_is_refused_before_it_is_planned(
        self, launch: Launch, new_worker: NewWorker
    ) -> None:
        campaign = launch(assignments=1, cap_cents=200)  # the place costs 1.44
        [row] = submitted(campaign, new_worker)
        with pytest.raises(CapExceeded, match=r"0\.56 of the campaign's cap are left"):
            plan_bonus(assignment=row, amount_cents=50, cause="care", reason="For your care.")
        assert not Payment.objects.exists()

    def test_automatic_approval_is_booked(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker
    ) -> None:
        campaign = launch()
        submitted(campaign, new_worker)
        marketplace.advance(3 * 86_400 + 60)
        assert sync(study=campaign.study).approved == 1
        assert payment_summary(campaign.study)["total_cents"] == 144
        assert settle(study=campaign.study).planned == 0
        assert reconcile(environment="marketplace")[0].adds_up

    def test_automatic_approval_between_plan_and_payment(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker
    ) -> None:
        campaign = launch()
        submitted(campaign, new_worker)
        settle(study=campaign.study)
        marketplace.advance(3 * 86_400 + 60)
        assert send().confirmed == 1
        assert payment_summary(campaign.study)["total_cents"] == 144


class TestRefusals:
    def test_what_cannot_be_paid_steps_aside_and_is_paid_later(
        self,
        marketplace: MarketplaceServer,
        launch: Launch,
        new_worker: NewWorker,
        use_keys: Callable[[RequesterKeys], None],
    ) -> None:
        poor = marketplace.create_requester("A lab in need", "4.00")
        use_keys(poor)
        campaign = launch(assignments=1, cap_cents=9_000)  # holds 1.44
        [row] = submitted(campaign, new_worker)
        plan_bonus(assignment=row, amount_cents=3_000, cause="large", reason="Very well done.")
        plan_bonus(assignment=row, amount_cents=10, cause="small", reason="Well done.")
        settle(study=campaign.study)
        report = send()
        assert (report.confirmed, report.waiting) == (2, 1)
        assert "money" in report.remarks[0]
        large = Payment.objects.get(cause="large")
        assert (large.state, large.attempts, large.first_sent_at) == (WriteState.PLANNED, 0, None)
        assert "money" in large.last_error
        marketplace._run("create_requester", "--name", "A lab in need", "--deposit", "96.00").communicate(timeout=LIMIT)
        assert send().confirmed == 1

    def test_wrong_keys_pause_the_sender_and_right_ones_end_the_pause(
        self, launch: Launch, new_worker: NewWorker, settings: Any, other_side: Any
    ) -> None:
        campaign = launch()
        submitted(campaign, new_worker)
        settle(study=campaign.study)
        right = settings.MARKETPLACE_SECRET_ACCESS_KEY
        settings.MARKETPLACE_SECRET_ACCESS_KEY = "wrong" * 8
        report = send()
        assert report.waiting == 1
        assert "keys" in report.remarks[0]
        lease = RecruiterAccount.objects.get(environment="marketplace")
        assert (lease.pause, lease.holder) == (Pause.KEYS, "")
        assert attention(campaign.study)[0].severity == "bad"
        assert "keys" in sync(study=campaign.study).remarks[0]
        settings.MARKETPLACE_SECRET_ACCESS_KEY = right
        assert send().confirmed == 1
        assert attention(campaign.study) == []

    def test_no_keys_at_all(self, launch: Launch, settings: Any) -> None:
        settings.MARKETPLACE_ACCESS_KEY_ID = ""
        campaign = launch()
        assert campaign.hits.get().state == HitState.PLANNED
        assert "MARKETPLACE_ACCESS_KEY_ID" in attention(campaign.study)[0].text

    def test_a_marketplace_that_is_away_leaves_everything_as_it_was(self, launch: Launch, settings: Any) -> None:
        settings.MARKETPLACE_URL = "http://localhost:9"
        campaign = launch()
        assert Call.objects.get().state == WriteState.SENDING
        assert "cannot be reached" in Call.objects.get().last_error
        assert "cannot be reached" in sync(study=campaign.study).remarks[0] or not campaign.hits.get().hit_id


def _listed(other_side: Any, campaign: Campaign) -> list[dict[str, Any]]:
    return [
        row
        for hit in campaign.hits.all()
        for row in other_side.list_assignments_for_hit(HITId=hit.hit_id)["Assignments"]
    ]
