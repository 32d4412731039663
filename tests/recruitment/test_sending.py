"""The outbox against a real marketplace process: replies are lost, keys are wrong, the process dies. Paid once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from humanexp.core import clock
from humanexp.core.errors import CapExceeded, IllegalTransition
from humanexp.core.models import AuditEvent
from humanexp.recruitment import selectors, services
from humanexp.recruitment.jobs import run_sync
from humanexp.recruitment.models import Assignment, Campaign, HitWrite, Pause, Payment, RecruiterAccount
from humanexp.recruitment.recruiters import recruiter_for
from humanexp.recruitment.services import counting, sending
from humanexp.recruitment.services.deliveries import delivery_of
from humanexp.recruitment.services.lease import Lease
from humanexp.recruitment.states import HitState, WriteState
from tests.marketplace.server import MarketplaceServer, RequesterKeys
from tests.recruitment.workers import Worker

Launch = Callable[..., Campaign]
NewWorker = Callable[[], Worker]
#: Done and not heard of; not done and not heard of; and the two that say so, which take longer.
FAULTS = [
    "drop_after_commit",
    "drop_before",
    pytest.param("service_fault", marks=pytest.mark.slow),
    pytest.param("throttle", marks=pytest.mark.slow),
]


def send() -> sending.SendReport:
    return services.send(environment="marketplace")


def hits_titled(other_side: Any, campaign: Campaign) -> list[dict[str, Any]]:
    pages = other_side.get_paginator("list_hits").paginate(MaxResults=100)
    return [hit for page in pages for hit in page["HITs"] if hit["Title"] == campaign.title]


def bonuses(other_side: Any, assignment: Assignment) -> list[str]:
    found = other_side.list_bonus_payments(AssignmentId=assignment.assignment_id)["BonusPayments"]
    return [bonus["BonusAmount"] for bonus in found]


def submitted(campaign: Campaign, new_worker: NewWorker, count: int = 1) -> list[Assignment]:
    for _ in range(count):
        new_worker().do(campaign)
    services.sync(study=campaign.study)
    send()  # qualifications: who has taken part does not see it any more
    return list(Assignment.objects.filter(campaign=campaign, state="submitted"))


class TestPublishing:
    def test_hits_are_published_on_the_terms_that_were_shown(
        self, launch: Launch, other_side: Any, settings: Any
    ) -> None:
        campaign = launch(assignments=11, reward_cents=120)
        assert [hit.max_assignments for hit in campaign.hits.all()] == [9, 2]
        assert {hit.state for hit in campaign.hits.all()} == {HitState.OPEN}
        found = hits_titled(other_side, campaign)
        assert sorted(hit["MaxAssignments"] for hit in found) == [2, 9]
        for hit in found:
            assert hit["Reward"] == "1.20"
            assert hit["AutoApprovalDelayInSeconds"] == 3 * 86_400
            assert f"{settings.PUBLIC_URL}/take/{campaign.entry}/" in hit["Question"]
        assert len({hit["HITTypeId"] for hit in found}) == 1

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_lost_reply_makes_no_second_hit(
        self, marketplace: MarketplaceServer, launch: Launch, other_side: Any, fault: str
    ) -> None:
        marketplace.arm("CreateHITWithHITType", fault)
        campaign = launch()
        if fault != "throttle":  # a throttled write is tried again in the same round, at its next turn
            assert campaign.hits.get().state == HitState.PLANNED
            assert HitWrite.objects.get().state == WriteState.SENDING
        report = send()
        assert (report.confirmed, report.waiting) == (1, 0)
        [hit] = hits_titled(other_side, campaign)
        assert campaign.hits.get().hit_id == hit["HITId"]
        assert HitWrite.objects.get().state == WriteState.CONFIRMED

    def test_a_lost_reply_to_the_hit_type_is_harmless(
        self, marketplace: MarketplaceServer, launch: Launch, other_side: Any
    ) -> None:
        marketplace.arm("CreateHITType", "drop_after_commit")
        campaign = launch()
        send()
        assert len(hits_titled(other_side, campaign)) == 1

    def test_another_databases_hit_is_not_taken_for_ours(self, launch: Launch, other_side: Any) -> None:
        campaign = launch()
        write = HitWrite.objects.get()
        assert hits_titled(other_side, campaign)[0]["RequesterAnnotation"] == write.token
        assert len(write.token.rpartition("-")[2]) == 16


class TestPaying:
    def test_everyone_who_submitted_is_paid_once(self, launch: Launch, new_worker: NewWorker, other_side: Any) -> None:
        campaign = launch()
        rows = submitted(campaign, new_worker, 2)
        assert {row.evidence for row in rows} == {"receipt"}
        assert services.settle(study=campaign.study).sums == {"USD": 288}
        assert services.settle(study=campaign.study).planned == 0
        assert send().confirmed == 2
        assert services.settle(study=campaign.study).planned == 0
        assert send().confirmed == 0
        assert {row["AssignmentStatus"] for row in _listed(other_side, campaign)} == {"Approved"}
        assert selectors.payment_summary(campaign.study) == {
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
        services.settle(study=campaign.study)
        marketplace.arm("ApproveAssignment", fault)
        send()
        send()
        payment = Payment.objects.get()
        assert payment.state == WriteState.CONFIRMED
        assert payment.assignment.state == "approved"
        assert _listed(other_side, campaign)[0]["AssignmentStatus"] == "Approved"

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_lost_reply_to_a_bonus_pays_once(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, other_side: Any, fault: str
    ) -> None:
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        for _ in range(2):
            services.plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        marketplace.arm("SendBonus", fault)
        send()
        assert bonuses(other_side, row) == ([] if fault in ("drop_before", "service_fault", "throttle") else ["0.33"])
        send()
        assert bonuses(other_side, row) == ["0.33"]
        payment = Payment.objects.get()
        assert payment.state == WriteState.CONFIRMED
        assert payment.token.startswith(f"marketplace-pay-{payment.pk}-")

    def test_many_payments_through_many_faults(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(assignments=6, cap_cents=5_000)
        rows = submitted(campaign, new_worker, 6)
        services.settle(study=campaign.study)
        for row in rows:
            services.plan_bonus(assignment=row, amount_cents=50, cause="care", reason="For your care.")
        for operation in ("ApproveAssignment", "SendBonus"):
            for fault in ("drop_after_commit", "drop_before", "service_fault", "drop_after_commit"):
                marketplace.arm(operation, fault)
        for _ in range(6):
            send()
        assert set(Payment.objects.values_list("state", flat=True)) == {WriteState.CONFIRMED}
        assert [bonuses(other_side, row) for row in rows] == [["0.50"]] * 6
        [book] = services.reconcile(environment="marketplace")
        assert (book.ledger_cents, book.theirs_cents, book.payments) == (6 * 170, 6 * 170, 12)
        assert book.adds_up

    def test_the_order_of_the_ledger_is_not_forgotten_with_the_token(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        """A day later the recruiter has forgotten the token: the row is asked about twice, then sent again."""
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        services.plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
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
        services.plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
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
            services.plan_bonus(assignment=row, amount_cents=50, cause="care", reason="For your care.")
        assert not Payment.objects.exists()

    def test_automatic_approval_is_booked(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker
    ) -> None:
        campaign = launch()
        submitted(campaign, new_worker)
        marketplace.advance(3 * 86_400 + 60)
        assert services.sync(study=campaign.study).approved == 1
        assert selectors.payment_summary(campaign.study)["total_cents"] == 144
        assert services.settle(study=campaign.study).planned == 0
        assert services.reconcile(environment="marketplace")[0].adds_up

    def test_automatic_approval_between_plan_and_payment(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker
    ) -> None:
        campaign = launch()
        submitted(campaign, new_worker)
        services.settle(study=campaign.study)
        marketplace.advance(3 * 86_400 + 60)
        assert send().confirmed == 1
        assert selectors.payment_summary(campaign.study)["total_cents"] == 144


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
        services.plan_bonus(assignment=row, amount_cents=3_000, cause="large", reason="Very well done.")
        services.plan_bonus(assignment=row, amount_cents=10, cause="small", reason="Well done.")
        services.settle(study=campaign.study)
        report = send()
        assert (report.confirmed, report.waiting) == (2, 1)
        assert "money" in report.remarks[0]
        large = Payment.objects.get(cause="large")
        assert (large.state, large.attempts, large.first_sent_at) == (WriteState.PLANNED, 0, None)
        assert "money" in large.last_error
        marketplace._run("create_requester", "--name", "A lab in need", "--deposit", "96.00").communicate(timeout=60)
        assert send().confirmed == 1

    def test_wrong_keys_pause_the_sender_and_right_ones_end_the_pause(
        self, launch: Launch, new_worker: NewWorker, settings: Any, other_side: Any
    ) -> None:
        campaign = launch()
        submitted(campaign, new_worker)
        services.settle(study=campaign.study)
        right = settings.MARKETPLACE_SECRET_ACCESS_KEY
        settings.MARKETPLACE_SECRET_ACCESS_KEY = "wrong" * 8
        report = send()
        assert report.waiting == 1
        assert "keys" in report.remarks[0]
        lease = RecruiterAccount.objects.get(environment="marketplace")
        assert (lease.pause, lease.holder) == (Pause.KEYS, "")
        assert selectors.attention(campaign.study)[0].tone == "bad"
        assert "keys" in services.sync(study=campaign.study).remarks[0]
        settings.MARKETPLACE_SECRET_ACCESS_KEY = right
        assert send().confirmed == 1
        assert selectors.attention(campaign.study) == []

    def test_no_keys_at_all(self, launch: Launch, settings: Any) -> None:
        settings.MARKETPLACE_ACCESS_KEY_ID = ""
        campaign = launch()
        assert campaign.hits.get().state == HitState.PLANNED
        assert "MARKETPLACE_ACCESS_KEY_ID" in selectors.attention(campaign.study)[0].text

    def test_a_marketplace_that_is_away_leaves_everything_as_it_was(self, launch: Launch, settings: Any) -> None:
        settings.MARKETPLACE_URL = "http://localhost:9"
        campaign = launch()
        assert HitWrite.objects.get().state == WriteState.SENDING
        assert "cannot be reached" in HitWrite.objects.get().last_error
        assert "cannot be reached" in services.sync(study=campaign.study).remarks[0] or not campaign.hits.get().hit_id


class TestStopping:
    def test_stop_expires_every_hit_and_who_has_begun_is_paid(
        self, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(assignments=3, assignments_per_hit=1)
        worker = new_worker()
        under_way = worker.accept(campaign, 2)
        services.stop(study=campaign.study)
        assert send().confirmed == 3
        campaign.refresh_from_db()
        assert campaign.state == "stopped"
        assert new_worker().client.try_accept(campaign.hits.first().hit_id).status_code == 409
        assert under_way.open().status_code == 201
        worker.submit(under_way, under_way.answer_all()["receipt"])
        assert services.sync(study=campaign.study).submitted == 1
        services.settle(study=campaign.study)
        assert send().confirmed == 1

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_lost_reply_to_an_expiry(self, marketplace: MarketplaceServer, launch: Launch, fault: str) -> None:
        campaign = launch()
        services.stop(study=campaign.study)
        marketplace.arm("UpdateExpirationForHIT", fault)
        send()
        send()
        campaign.refresh_from_db()
        assert campaign.state == "stopped"

    def test_a_refused_stop_is_told_and_tried_again_and_nothing_else_is_done_twice(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(assignments=3, assignments_per_hit=1)
        paid = submitted(campaign, new_worker)[0]
        services.settle(study=campaign.study)
        services.stop(study=campaign.study)
        marketplace.arm("UpdateExpirationForHIT", "refused", times=3)
        assert send().refused == 3
        campaign.refresh_from_db()
        assert campaign.state == "stopping"  # people can still take two of its places
        marketplace.arm("UpdateExpirationForHIT", "refused", times=1)
        run_sync(progress=lambda *_: None)
        campaign.refresh_from_db()
        [told] = [one for one in selectors.attention(campaign.study) if one.kind == "open-hit"]
        assert (campaign.state, told.count, told.tone) == ("stopping", 1, "bad")
        assert "can still be taken" in told.text and "every minute" in told.resolution
        run_sync(progress=lambda *_: None)
        campaign.refresh_from_db()
        assert campaign.state == "stopped"
        assert not [one for one in selectors.attention(campaign.study) if one.kind == "open-hit"]
        found = hits_titled(other_side, campaign)
        assert [hit["HITStatus"] for hit in found] == ["Reviewable"] * 3
        rewards = Payment.objects.get(assignment=paid)
        assert (rewards.state, rewards.attempts) == (WriteState.CONFIRMED, 1)
        creations = HitWrite.objects.filter(kind="create")
        assert set(creations.values_list("state", "attempts")) == {(WriteState.CONFIRMED, 1)}

    def test_a_hit_that_somebody_ended_by_hand_needs_no_stop_any_more(
        self, marketplace: MarketplaceServer, launch: Launch, other_side: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        campaign = launch()
        services.stop(study=campaign.study)
        marketplace.arm("UpdateExpirationForHIT", "refused")
        send()
        hit_id = campaign.hits.get().hit_id
        other_side.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime(2015, 1, 1))
        # the marketplace's clock may have been moved ahead of ours
        ended = other_side.get_hit(HITId=hit_id)["HIT"]["Expiration"]
        monkeypatch.setattr(clock, "system_clock", SimpleNamespace(now=lambda: max(ended, timezone.now())))
        marketplace.arm("UpdateExpirationForHIT", "refused")
        run_sync(progress=lambda *_: None)
        campaign.refresh_from_db()
        assert campaign.state == "stopped"

    def test_a_hit_that_was_never_sent_is_not_published(
        self, marketplace: MarketplaceServer, study: Any, other_side: Any
    ) -> None:
        campaign = services.publish(
            study=study, terms=services.LaunchTerms(to="marketplace", assignments=2, reward_cents=1, title="Never sent")
        )
        services.stop(study=study)
        campaign.refresh_from_db()
        assert (campaign.state, campaign.hits.get().state) == ("stopped", HitState.CANCELLED)
        assert send().confirmed == 0
        assert hits_titled(other_side, campaign) == []

    def test_a_stop_while_the_reply_to_the_publishing_is_lost(
        self, marketplace: MarketplaceServer, launch: Launch, other_side: Any
    ) -> None:
        marketplace.arm("CreateHITWithHITType", "drop_after_commit")
        campaign = launch()
        services.stop(study=campaign.study)
        send()
        campaign.refresh_from_db()
        assert campaign.state == "stopped"
        [hit] = hits_titled(other_side, campaign)
        assert hit["HITStatus"] == "Reviewable"  # expired, with nobody at work

    def test_a_stop_before_a_publishing_that_never_arrived(
        self, marketplace: MarketplaceServer, launch: Launch, other_side: Any
    ) -> None:
        marketplace.arm("CreateHITWithHITType", "drop_before")
        campaign = launch()
        services.stop(study=campaign.study)
        assert send().waiting == 2  # it may still appear
        HitWrite.objects.filter(kind="create").update(first_sent_at=timezone.now() - timedelta(minutes=11))
        send()
        campaign.refresh_from_db()
        assert (campaign.state, campaign.hits.get().state) == ("stopped", HitState.CANCELLED)
        assert hits_titled(other_side, campaign) == []


class TestLease:
    def test_two_senders_never_run_at_once(self, launch: Launch, new_worker: NewWorker, other_side: Any) -> None:
        campaign = launch()
        submitted(campaign, new_worker)
        services.settle(study=campaign.study)
        other = Lease("marketplace")
        assert other.renew()
        report = send()
        assert (report.confirmed, report.waiting) == (0, 1)
        assert report.remarks == ["marketplace: another sender is at work."]
        other.give_back()
        assert send().confirmed == 1

    def test_a_dead_senders_lease_runs_out(self, launch: Launch) -> None:
        launch()
        dead = Lease("marketplace", length=timedelta(seconds=-1))
        assert dead.renew()
        alive = Lease("marketplace")
        assert alive.renew()
        assert not dead.renew()
        dead.give_back()  # not its own any more
        assert RecruiterAccount.objects.get(environment="marketplace").holder == alive.holder

    @pytest.mark.parametrize("hours", [-30, 30])
    def test_a_clock_that_is_set_hands_the_lease_to_nobody_else(
        self, launch: Launch, monkeypatch: pytest.MonkeyPatch, hours: int
    ) -> None:
        launch()
        sender = Lease("marketplace")
        assert sender.renew()
        monkeypatch.setattr(clock, "system_clock", Stepped(timedelta(hours=hours)))
        assert not Lease("marketplace").renew()
        assert sender.renew()

    @pytest.mark.parametrize("hours", [-30, 30])
    def test_a_clock_that_is_set_keeps_no_dead_senders_lease_alive(
        self, launch: Launch, monkeypatch: pytest.MonkeyPatch, hours: int
    ) -> None:
        launch()
        assert Lease("marketplace", length=timedelta(seconds=-1)).renew()
        monkeypatch.setattr(clock, "system_clock", Stepped(timedelta(hours=hours)))
        assert Lease("marketplace").renew()

    @pytest.mark.parametrize(("hours", "is_free"), [(-30, True), (0, False), (30, True)])
    def test_a_holder_on_another_machine_is_judged_by_the_wall_clock(
        self, launch: Launch, hours: int, is_free: bool
    ) -> None:
        launch()
        assert Lease("marketplace").renew()
        RecruiterAccount.objects.update(boot="another", until=timezone.now() - timedelta(hours=hours, seconds=-60))
        assert Lease("marketplace").renew() is is_free

    def test_who_has_lost_the_lease_while_it_asked_does_not_send(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        bonus = services.plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        marketplace.arm("SendBonus", "drop_before")
        send()
        bonus.refresh_from_db()
        said = sending.deliver(delivery_of(recruiter_for("marketplace"), bonus), bonus, is_ours=lambda: False)
        assert "taken over" in said
        assert (bonuses(other_side, row), Payment.objects.get().attempts) == ([], 1)

    def test_of_two_who_believe_that_they_hold_the_lease_one_sends(
        self, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        """Both have read the row as it was."""
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        bonus = services.plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        stale = Payment.objects.get(pk=bonus.pk)
        recruiter = recruiter_for("marketplace")
        assert sending.deliver(delivery_of(recruiter, bonus), bonus, is_ours=lambda: True) == ""
        with pytest.raises(IllegalTransition):
            sending.deliver(delivery_of(recruiter, stale), stale, is_ours=lambda: True)
        stale.state = WriteState.SENDING  # it was further on
        Payment.objects.update(state=WriteState.SENDING)
        assert "taken over" in sending.deliver(delivery_of(recruiter, stale), stale, is_ours=lambda: True)
        assert bonuses(other_side, row) == ["0.33"]
        assert Payment.objects.get().attempts == 1


class TestFirstSends:
    """What was planned long ago, or in a database that was restored, may have been sent without our knowing."""

    def test_an_old_row_is_asked_about_before_its_first_send(
        self, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        bonus = services.plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        send()
        Payment.objects.update(state="planned", attempts=0, first_sent_at=None)  # as a backup has it
        Payment.objects.update(created_at=timezone.now() - timedelta(hours=21), token="another")
        assert send().confirmed == 1
        assert bonuses(other_side, row) == ["0.33"]
        bonus.refresh_from_db()
        assert (bonus.state, bonus.attempts) == (WriteState.CONFIRMED, 0)

    def test_an_old_row_that_was_never_sent_is_sent_after_two_questions(
        self, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        services.plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        Payment.objects.update(created_at=timezone.now() - timedelta(hours=21))
        assert "asked once more" in send().remarks[0]
        assert Payment.objects.get().state == WriteState.PLANNED
        Payment.objects.update(missed_at=timezone.now() - timedelta(minutes=2))
        assert send().confirmed == 1
        assert bonuses(other_side, row) == ["0.33"]
        assert AuditEvent.objects.filter(action="send-late").count() == 1

    def test_a_restored_database_is_told_by_the_file_that_counts_sends(
        self, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        """The token is gone, too: the marketplace is told another one, as after a day."""
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        services.plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        before = RecruiterAccount.objects.get(environment="marketplace").sends
        assert int(counting.file_of("marketplace").read_text()) >= before
        send()
        Payment.objects.update(state="planned", attempts=0, first_sent_at=None, token="another")
        RecruiterAccount.objects.update(sends=before)
        report = send()
        assert "restored" in report.remarks[0]
        assert bonuses(other_side, row) == ["0.33"]
        services.plan_bonus(assignment=row, amount_cents=1, cause="more", reason="For more.")
        assert "compared first" in str(send().remarks)
        services.reconcile(environment="marketplace")
        for _ in range(2):
            send()
            Payment.objects.filter(state="planned").update(missed_at=timezone.now() - timedelta(minutes=2))
        assert set(Payment.objects.values_list("state", flat=True)) == {WriteState.CONFIRMED}
        assert sorted(bonuses(other_side, row)) == ["0.01", "0.33"]
        assert RecruiterAccount.objects.get(environment="marketplace").to_compare_since is None

    def test_the_file_never_counts_back_and_is_its_owners_alone(self, db: None, settings: Any, tmp_path: Path) -> None:
        settings.MEDIA_ROOT = tmp_path
        RecruiterAccount.objects.update_or_create(environment="sandbox", defaults={"sends": 7})
        assert not counting.notice_restoring("sandbox")
        file = counting.file_of("sandbox")
        assert (file.read_text(), file.stat().st_mode & 0o777) == ("7\n", 0o600)
        counting.count_send("sandbox")
        assert file.read_text() == "8\n"
        RecruiterAccount.objects.update(sends=3)
        counting.count_send("sandbox")
        assert file.read_text() == "8\n"
        assert counting.notice_restoring("sandbox")
        assert RecruiterAccount.objects.get(environment="sandbox").sends == 8
        assert not counting.notice_restoring("sandbox")


class Stepped:
    """A wall clock that was set."""

    def __init__(self, by: timedelta) -> None:
        self.by = by

    def now(self) -> datetime:
        return timezone.now() + self.by


def _listed(other_side: Any, campaign: Campaign) -> list[dict[str, Any]]:
    return [
        row
        for hit in campaign.hits.all()
        for row in other_side.list_assignments_for_hit(HITId=hit.hit_id)["Assignments"]
    ]
