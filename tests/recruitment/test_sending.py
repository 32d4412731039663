"""Who may send: one sender at a time, whose process may die, and the first sends of an account."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from humanexp.core import clock
from humanexp.core.errors import IllegalTransition
from humanexp.core.models import AuditEvent, User
from humanexp.ledger.decisions import resolve_difference
from humanexp.ledger.deliveries import delivery_of
from humanexp.ledger.delivery import Lease, count_send, deliver, file_of, notice_restoring
from humanexp.ledger.models import Payment
from humanexp.ledger.reconciliation import open_differences, reconcile
from humanexp.ledger.settlement import plan_bonus, settle
from humanexp.recruiters.models import RecruiterAccount
from humanexp.recruiters.registry import recruiter_for
from humanexp.recruiters.states import DifferenceState, WriteState
from tests.marketplace.server import MarketplaceServer
from tests.recruitment.outbox import Launch, NewWorker, bonuses, send, submitted


class TestLease:
    def test_two_senders_never_run_at_once(self, launch: Launch, new_worker: NewWorker, other_side: Any) -> None:
        campaign = launch()
        submitted(campaign, new_worker)
        settle(study=campaign.study)
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
        bonus = plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        marketplace.arm("SendBonus", "drop_before")
        send()
        bonus.refresh_from_db()
        said = deliver(delivery_of(recruiter_for("marketplace"), bonus), bonus, is_ours=lambda: False)
        assert "taken over" in said
        assert (bonuses(other_side, row), Payment.objects.get().attempts) == ([], 1)

    def test_of_two_who_believe_that_they_hold_the_lease_one_sends(
        self, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        """Both have read the row as it was."""
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        settle(study=campaign.study)
        reward, stale = Payment.objects.get(), Payment.objects.get()
        recruiter = recruiter_for("marketplace")
        assert deliver(delivery_of(recruiter, reward), reward, is_ours=lambda: True) == ""
        with pytest.raises(IllegalTransition):
            deliver(delivery_of(recruiter, stale), stale, is_ours=lambda: True)
        stale.state = WriteState.SENDING  # it was further on
        Payment.objects.update(state=WriteState.SENDING)
        assert "taken over" in deliver(delivery_of(recruiter, stale), stale, is_ours=lambda: True)
        assert other_side.get_assignment(AssignmentId=row.assignment_id)["Assignment"]["AssignmentStatus"] == "Approved"
        assert Payment.objects.get().attempts == 1


class TestFirstSends:
    """What was planned long ago, or in a database that was restored, may have been sent without our knowing."""

    def test_an_old_row_is_asked_about_before_its_first_send(
        self, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        bonus = plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        send()
        Payment.objects.update(state="planned", attempts=0, first_sent_at=None)  # as a backup has it
        Payment.objects.update(created_at=timezone.now() - timedelta(hours=21), token=f"new-{bonus.token[-10:]}")
        assert send().confirmed == 1
        assert bonuses(other_side, row) == ["0.33"]
        bonus.refresh_from_db()
        assert (bonus.state, bonus.attempts) == (WriteState.CONFIRMED, 0)

    def test_an_old_row_that_was_never_sent_is_sent_after_two_questions(
        self, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        Payment.objects.update(created_at=timezone.now() - timedelta(hours=21))
        assert "asked once more" in send().remarks[0]
        assert Payment.objects.get().state == WriteState.PLANNED
        Payment.objects.update(missed_at=timezone.now() - timedelta(minutes=2))
        assert send().confirmed == 1
        assert bonuses(other_side, row) == ["0.33"]
        assert AuditEvent.objects.filter(action="send-late").count() == 1

    def test_a_bonus_waits_while_one_is_listed_that_nobody_here_knows(
        self, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        """Database and disk were set back together, and the same is planned anew: with another marker and token."""
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        send()
        Payment.objects.update(state="planned", attempts=0, first_sent_at=None, token="another")
        for _ in range(3):
            assert "no payment here explains" in str(send().remarks)
        assert bonuses(other_side, row) == ["0.33"]
        reconcile(environment="marketplace")
        payer = User.objects.create_user("olga", is_staff=True)
        [found] = open_differences(campaign.study)
        shown = (found.ours_cents, found.theirs_cents)
        resolve_difference(
            difference=found, resolution=DifferenceState.NOT_OURS, note="By hand.", by=payer, shown=shown
        )
        send()
        assert bonuses(other_side, row) == ["0.33", "0.33"]

    def test_a_restored_database_is_told_by_the_file_that_counts_sends(
        self, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        """The token is gone, too: the marketplace is told another one, as after a day."""
        campaign = launch(cap_cents=1_000)
        [row] = submitted(campaign, new_worker)
        bonus = plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
        before = RecruiterAccount.objects.get(environment="marketplace").sends
        assert int(file_of("marketplace").read_text()) >= before
        send()
        Payment.objects.update(state="planned", attempts=0, first_sent_at=None, token=f"new-{bonus.token[-10:]}")
        RecruiterAccount.objects.update(sends=before)
        report = send()
        assert "restored" in report.remarks[0]
        assert bonuses(other_side, row) == ["0.33"]
        plan_bonus(assignment=row, amount_cents=1, cause="more", reason="For more.")
        assert "compared first" in str(send().remarks)
        reconcile(environment="marketplace")
        for _ in range(2):
            send()
            Payment.objects.filter(state="planned").update(missed_at=timezone.now() - timedelta(minutes=2))
        assert set(Payment.objects.values_list("state", flat=True)) == {WriteState.CONFIRMED}
        assert sorted(bonuses(other_side, row)) == ["0.01", "0.33"]
        assert RecruiterAccount.objects.get(environment="marketplace").to_compare_since is None

    def test_the_file_never_counts_back_and_is_its_owners_alone(self, db: None, settings: Any, tmp_path: Path) -> None:
        settings.MEDIA_ROOT = tmp_path
        RecruiterAccount.objects.update_or_create(environment="sandbox", defaults={"sends": 0})
        assert not notice_restoring("sandbox")
        file = file_of("sandbox")
        assert (file.read_text(), file.stat().st_mode & 0o777) == ("0\n", 0o600)
        for _ in range(8):
            count_send("sandbox")
        assert file.read_text() == "8\n"
        RecruiterAccount.objects.update(sends=3)
        count_send("sandbox")
        assert file.read_text() == "8\n"
        assert notice_restoring("sandbox")
        assert RecruiterAccount.objects.get(environment="sandbox").sends == 8
        assert not notice_restoring("sandbox")

    def test_without_its_file_a_database_that_has_sent_asks_first(
        self, db: None, settings: Any, tmp_path: Path
    ) -> None:
        """Another machine, to which the folder was not copied."""
        settings.MEDIA_ROOT = tmp_path
        RecruiterAccount.objects.update_or_create(environment="sandbox", defaults={"sends": 7})
        assert notice_restoring("sandbox")
        assert file_of("sandbox").read_text() == "7\n"
        assert not notice_restoring("sandbox")


class Stepped:
    """A wall clock that was set."""

    def __init__(self, by: timedelta) -> None:
        self.by = by

    def now(self) -> datetime:
        return timezone.now() + self.by
