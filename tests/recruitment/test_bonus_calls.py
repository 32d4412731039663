"""Bonuses of a recruiter that knows no token, against the practice panel: sent once, proved, or left to a person."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
import requests
from django.db import IntegrityError, transaction

from humanexp.core.errors import CapExceeded, Conflict, InvalidRequest, NotAllowed
from humanexp.core.models import AuditEvent, User
from humanexp.ledger.bonus_calls import FORGOTTEN, UNPROVED
from humanexp.ledger.budgets import budget_of
from humanexp.ledger.decisions import found_paid, parked_bonuses, pay_again
from humanexp.ledger.delivery import count_send, file_of, notice_restoring
from humanexp.ledger.models import Difference, Payment
from humanexp.ledger.reconciliation import is_held, reconcile
from humanexp.recruiters.models import Assignment, RecruiterAccount
from humanexp.recruiters.money import Listing
from humanexp.recruiters.prolific.client import ProlificClient
from humanexp.recruiters.prolific.transport import Refused
from humanexp.recruiters.states import WriteState
from humanexp.studies.models import Study
from tests.panel.server import PanelServer
from tests.recruitment.bonuses_at_panel import Bonuses, at_panel

pytestmark = pytest.mark.django_db(transaction=True)
PAY = "bonus-payment.POST"


@pytest.fixture
def payer(db: None) -> User:
    return User.objects.create_user("olga", is_staff=True)


def states() -> list[str]:
    return list(Payment.objects.order_by("pk").values_list("state", flat=True))


def parked_one(bonuses: Bonuses, panel: PanelServer, fault: str = "lost_before") -> tuple[Assignment, Payment]:
    [row] = bonuses.people(1)
    payment = bonuses.promise(row)
    panel.arm(PAY, fault)
    bonuses.send()
    bonuses.pass_time(hours=25)
    bonuses.send()
    payment.refresh_from_db()
    return row, payment


def test_accepted_is_not_paid_before_the_recruiter_lists_it(bonuses: Bonuses) -> None:
    rows = bonuses.people(3)
    for row in rows:
        bonuses.promise(row)
    bonuses.send()
    assert set(states()) == {WriteState.SENDING}
    assert [bonuses.got(row) for row in rows] == [[40]] * 3
    assert {row.answer for row in Payment.objects.all()} == {"accepted"}
    assert len({row.handle for row in Payment.objects.all()}) == 1
    bonuses.settle()
    assert set(states()) == {WriteState.CONFIRMED}
    for one in Payment.objects.all():
        before, after = Listing.of(one.evidence_before), Listing.of(one.listed_after)
        assert before is not None and after is not None and before.balance_cents is not None
        assert after.balance_cents == before.balance_cents - 3 * 54
        assert (before.bonuses_cents, after.bonuses_cents, before.lines) == (0, 120, 3)
        assert (before.cents, after.cents, one.look_at) == ((), (40,), None)
    assert [bonuses.got(row) for row in rows] == [[40]] * 3
    assert not reconcile(environment="panel")[0].differences


def test_a_person_is_asked_for_only_after_a_day_and_a_look(bonuses: Bonuses, panel: PanelServer) -> None:
    [row] = bonuses.people(1)
    payment = bonuses.promise(row)
    panel.arm(PAY, "lost_before")
    bonuses.send()
    for hours in (1, 10, 12.9):
        bonuses.pass_time(hours=hours)
        bonuses.send()
        payment.refresh_from_db()
        assert payment.state == WriteState.SENDING
    bonuses.pass_time(hours=0.2)
    panel.arm("submission.GET", "bad_gateway", times=3)
    bonuses.send()
    payment.refresh_from_db()
    assert payment.state == WriteState.SENDING, "without an answer nothing is decided"
    bonuses.send()
    payment.refresh_from_db()
    assert (payment.state, payment.last_error) == (WriteState.PARKED, UNPROVED)
    assert bonuses.got(row) == []
    assert AuditEvent.objects.get(action="park").subject == f"payment:{payment.pk}"


@pytest.mark.parametrize("fault", ["lost_after", "cut_body", "bad_gateway_after", "html"])
def test_a_lost_answer_is_made_good_by_evidence(bonuses: Bonuses, panel: PanelServer, fault: str) -> None:
    [row] = bonuses.people(1)
    bonuses.promise(row)
    panel.arm(PAY, fault)
    bonuses.send()
    bonuses.settle()
    assert (states(), bonuses.got(row)) == ([WriteState.CONFIRMED], [40])


@pytest.mark.parametrize("fault", ["lost_before", "bad_gateway", "too_many"])
def test_what_may_have_been_done_is_never_sent_again_by_a_machine(
    bonuses: Bonuses, panel: PanelServer, fault: str
) -> None:
    row, payment = parked_one(bonuses, panel, fault)
    for _ in range(3):
        bonuses.pass_time(hours=30)
        bonuses.send()
    assert (states(), bonuses.got(row)) == ([WriteState.PARKED], [])
    assert budget_of(bonuses.campaign.study, "GBP").committed_cents >= payment.cost_cents


@pytest.mark.parametrize("is_carried_out", [True, False])
def test_a_process_that_ends_during_the_call_leaves_it_to_evidence(
    bonuses: Bonuses, monkeypatch: pytest.MonkeyPatch, is_carried_out: bool
) -> None:
    """As kill -9 leaves it: committed, and no answer stored."""
    [row] = bonuses.people(1)
    bonuses.promise(row)
    pay = ProlificClient.pay_bonuses

    def die(self: ProlificClient, plan: str) -> None:
        if is_carried_out:
            pay(self, plan)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ProlificClient, "pay_bonuses", die)
        with pytest.raises(KeyboardInterrupt):
            bonuses.send()
    assert (Payment.objects.get().answer, states()) == ("", [WriteState.SENDING])
    bonuses.pass_time(hours=25)
    bonuses.send()
    assert states() == [WriteState.CONFIRMED if is_carried_out else WriteState.PARKED]
    assert bonuses.got(row) == ([40] if is_carried_out else [])


def test_a_second_bonus_of_a_submission_waits_until_the_first_is_proved(bonuses: Bonuses) -> None:
    [row] = bonuses.people(1)
    bonuses.promise(row, cause="first")
    bonuses.promise(row, cause="second")
    bonuses.send()
    assert states() == [WriteState.SENDING, WriteState.PLANNED]
    bonuses.settle()
    assert states() == [WriteState.CONFIRMED, WriteState.SENDING]
    bonuses.settle()
    assert (states(), bonuses.got(row)) == ([WriteState.CONFIRMED] * 2, [40, 40])
    assert Payment.objects.get(cause="second").evidence_before["cents"] == [40]


def test_the_database_holds_one_unproved_bonus_of_a_submission(bonuses: Bonuses) -> None:
    [row] = bonuses.people(1)
    bonuses.promise(row)
    bonuses.send()
    known = Payment.objects.get()
    another = bonuses.promise(row, cause="second")
    with pytest.raises(IntegrityError), transaction.atomic():
        Payment.objects.filter(pk=another.pk).update(look_at=known.look_at)


def test_a_call_that_was_carried_out_before_is_not_sent_again(
    bonuses: Bonuses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recruiter's name of a plan is its claim: were it an earlier one's, sending it could pay that twice."""
    first, second = bonuses.people(2)
    bonuses.promise(first)
    bonuses.send()
    earlier, plan = Payment.objects.get().handle, ProlificClient.plan_bonuses

    def same(self: ProlificClient, *facts: Any) -> Any:
        return plan(self, *facts).model_copy(update={"id": earlier})

    monkeypatch.setattr(ProlificClient, "plan_bonuses", same)
    bonuses.promise(second)
    report = bonuses.send()
    assert Payment.objects.get(assignment=second).state == WriteState.PLANNED
    assert (bonuses.got(first), bonuses.got(second)) == ([40], [])
    assert any("carried out before" in remark for remark in report.remarks)


def test_lines_of_a_call_settle_one_by_one(bonuses: Bonuses, panel: PanelServer) -> None:
    panel.control("switches", lost_share=0.5, seed=3)
    rows = bonuses.people(8)
    for row in rows:
        bonuses.promise(row)
    bonuses.send()
    bonuses.pass_time(hours=25)
    bonuses.send()
    found = Counter(states())
    assert set(found) == {WriteState.CONFIRMED, WriteState.PARKED} and sum(found.values()) == 8
    assert len({row.handle for row in Payment.objects.all()}) == 1


def test_a_call_has_as_many_lines_as_the_setting_says(bonuses: Bonuses, settings: Any) -> None:
    settings.BONUSES_PER_CALL = 2
    for row in bonuses.people(5):
        bonuses.promise(row)
    bonuses.send()
    assert sorted(Counter(row.handle for row in Payment.objects.all()).values()) == [1, 2, 2]


def test_one_line_that_is_refused_holds_up_no_other(bonuses: Bonuses) -> None:
    rows = bonuses.people(3)
    Assignment.objects.filter(pk=rows[1].pk).update(assignment_id="f" * 24)
    for row in rows:
        bonuses.promise(row)
    report = bonuses.send()
    assert states() == [WriteState.SENDING, WriteState.REFUSED, WriteState.SENDING]
    assert "f" * 24 not in " ".join(report.remarks) + Payment.objects.get(state="refused").last_error


def test_without_money_nothing_is_sent_and_it_is_paid_once_there_is_some(
    panel: PanelServer, study: Study, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    poor = panel.lab(balance_cents=60 * 200 + 50)
    settings.PANEL_URL = panel.url
    settings.PANEL_TOKEN, settings.PANEL_WORKSPACE, settings.PANEL_PROJECT = (
        poor.token,
        poor.workspace_id,
        poor.project_id,
    )
    bonuses = at_panel(poor, study, monkeypatch)
    [row] = bonuses.people(1)
    bonuses.promise(row)
    report = bonuses.send()
    assert states() == [WriteState.PLANNED] and any("Add money" in one for one in report.remarks)
    panel.control("deposits", workspace_id=poor.workspace_id, amount_cents=100)
    bonuses.send()
    bonuses.settle()
    assert states() == [WriteState.CONFIRMED]


def test_one_read_that_fails_holds_up_no_call(bonuses: Bonuses, panel: PanelServer) -> None:
    [row] = bonuses.people(1)
    bonuses.promise(row)
    panel.arm("submission.GET", "bad_gateway", times=2)
    bonuses.send()
    assert states() == [WriteState.SENDING]


def test_a_refused_call_was_not_carried_out(bonuses: Bonuses, monkeypatch: pytest.MonkeyPatch) -> None:
    [row] = bonuses.people(1)
    bonuses.promise(row)

    def refused(self: ProlificClient, plan: str) -> None:
        raise Refused("Prolific: status 400.", status=400)

    monkeypatch.setattr(ProlificClient, "pay_bonuses", refused)
    bonuses.send()
    payment = Payment.objects.get()
    assert (states(), payment.answer, payment.look_at) == ([WriteState.REFUSED], "refused", None)
    assert payment.handle == "", "the same plan may be named once more: it was not carried out"


class TestDeciding:
    def test_pay_again_is_a_new_attempt_with_a_name(self, bonuses: Bonuses, panel: PanelServer, payer: User) -> None:
        row, payment = parked_one(bonuses, panel)
        earlier = Listing.of(payment.evidence_before)
        assert earlier is not None
        assert pay_again(study=row.campaign.study, payments=[payment.pk], note="Not on their site.", by=payer) == 1
        bonuses.send()
        bonuses.settle()
        assert (states(), bonuses.got(row)) == ([WriteState.CONFIRMED], [40])
        payment.refresh_from_db()
        [first] = payment.given_up
        assert first == {"sent_at": earlier.at, "answer": "unknown", "lines": 1}
        assert (payment.attempts, payment.answer, payment.look_at) == (2, "accepted", None)
        line = AuditEvent.objects.get(action="pay-again")
        assert (line.by, line.subject) == (payer, f"payment:{payment.pk}")
        assert line.facts["note"] == "Not on their site."

    def test_what_shows_before_it_is_paid_again_is_not_paid_again(
        self, bonuses: Bonuses, panel: PanelServer, payer: User
    ) -> None:
        panel.control("switches", settling_s=10**7)  # paid, but only much later
        row, payment = parked_one(bonuses, panel, "lost_after")
        assert payment.state == WriteState.PARKED
        pay_again(study=row.campaign.study, payments=[payment.pk], note="It seems lost.", by=payer)
        bonuses.pass_time(days=3_000)
        bonuses.send()
        assert (states(), bonuses.got(row)) == ([WriteState.CONFIRMED], [40])
        assert Payment.objects.get().given_up == []

    def test_what_shows_between_the_last_look_and_the_plan_is_still_evidence(
        self, bonuses: Bonuses, panel: PanelServer, payer: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The plan lists the payment of the earlier sending: the row waits, and the next look finds it paid."""
        panel.control("switches", settling_s=10**7)
        row, payment = parked_one(bonuses, panel, "lost_after")
        pay_again(study=row.campaign.study, payments=[payment.pk], note="It seems lost.", by=payer)
        plan = ProlificClient.plan_bonuses

        def late(self: ProlificClient, *facts: Any) -> Any:
            bonuses.pass_time(days=3_000)
            return plan(self, *facts)

        with monkeypatch.context() as patch:
            patch.setattr(ProlificClient, "plan_bonuses", late)
            bonuses.send()
        assert (states(), bonuses.got(row)) == ([WriteState.PARKED], [40])
        bonuses.pass_time(hours=7)
        bonuses.send()
        assert (states(), bonuses.got(row)) == ([WriteState.CONFIRMED], [40])

    def test_found_paid_is_settled_and_written_down(self, bonuses: Bonuses, panel: PanelServer, payer: User) -> None:
        row, payment = parked_one(bonuses, panel)
        found_paid(study=row.campaign.study, payments=[payment.pk], note="Paid on the site.", by=payer)
        bonuses.send()
        assert (states(), bonuses.got(row)) == ([WriteState.CONFIRMED], [])
        assert Payment.objects.get().look_at is None
        assert AuditEvent.objects.get(action="found-paid").facts["note"] == "Paid on the site."

    def test_late_evidence_needs_no_person(self, bonuses: Bonuses, panel: PanelServer) -> None:
        panel.control("switches", settling_s=10**7)
        row, payment = parked_one(bonuses, panel, "lost_after")
        assert payment.state == WriteState.PARKED
        bonuses.pass_time(days=3_000)
        bonuses.send()
        assert (states(), bonuses.got(row)) == ([WriteState.CONFIRMED], [40])

    def test_a_decision_wants_a_reason_a_payer_and_what_still_waits(
        self, bonuses: Bonuses, panel: PanelServer, payer: User
    ) -> None:
        row, payment = parked_one(bonuses, panel)
        study = row.campaign.study
        with pytest.raises(InvalidRequest):
            pay_again(study=study, payments=[payment.pk], note=" ", by=payer)
        with pytest.raises(InvalidRequest):
            pay_again(study=study, payments=[], note="why", by=payer)
        stranger = User.objects.create_user("eve")
        for decide in (pay_again, found_paid):
            with pytest.raises(NotAllowed):
                decide(study=study, payments=[payment.pk], note="why", by=stranger)
        found_paid(study=study, payments=[payment.pk], note="seen", by=payer)
        for decide in (pay_again, found_paid):
            with pytest.raises(Conflict):
                decide(study=study, payments=[payment.pk], note="again", by=payer)


class TestBooks:
    def test_a_bonus_that_somebody_paid_by_hand_is_a_difference_and_holds_that_persons_bonuses(
        self, bonuses: Bonuses
    ) -> None:
        rows = bonuses.people(2)
        plan = bonuses.lab.plan(bonuses.study, (rows[0].assignment_id, "0.40"))
        bonuses.lab.post(f"bulk-bonus-payments/{plan['id']}/pay/")
        bonuses.pass_time(minutes=20)
        payment = bonuses.promise(rows[0])
        bonuses.promise(rows[1])
        [book] = reconcile(environment="panel")
        assert len(book.differences) == 1 and rows[0].person.worker_id not in book.differences[0]  # type: ignore[union-attr]
        found = Difference.objects.get()
        assert (found.theirs_cents, found.ours_cents, found.payment) == (40, None, payment)
        bonuses.send()
        assert states() == [WriteState.PLANNED, WriteState.SENDING]

    @pytest.mark.parametrize(("named", "most"), [(True, 8), (False, 40)])
    def test_bonuses_are_read_from_one_list_where_it_names_them(
        self, bonuses: Bonuses, panel: PanelServer, named: bool, most: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        panel.control("switches", lists_bonuses=named)
        rows = bonuses.people(25)
        for row in rows[:3]:
            bonuses.promise(row)
        bonuses.send()
        bonuses.settle()
        calls: list[str] = []
        send = requests.request
        monkeypatch.setattr(
            requests, "request", lambda method, url, **more: calls.append(url) or send(method, url, **more)
        )
        [book] = reconcile(environment="panel")
        assert (book.ledger_cents, book.theirs_cents, book.differences) == (120, 120, [])
        assert len(calls) <= most

    def test_one_lost_answer_leaves_the_books_compared_and_an_outage_says_that_they_are_not(
        self, bonuses: Bonuses, panel: PanelServer
    ) -> None:
        [row] = bonuses.people(1)
        bonuses.promise(row)
        bonuses.send()
        bonuses.settle()
        for operation in ("submissions-of-study.GET", "cost.GET"):
            panel.arm(operation, "bad_gateway", times=2)
            [book] = reconcile(environment="panel")
            assert (book.hits_unread, book.theirs_cents) == (0, 40)
            panel.control("clear")
            panel.arm(operation, "bad_gateway", times=3)
            [book] = reconcile(environment="panel")
            assert book.hits_unread == 1
            assert "“Pictures” were not compared" in book.remarks[0]
            panel.control("clear")

    def test_paid_twice_by_the_network_is_seen_and_stops_that_persons_bonuses(
        self, bonuses: Bonuses, panel: PanelServer
    ) -> None:
        [row] = bonuses.people(1)
        bonuses.promise(row)
        panel.arm(PAY, "doubled")
        bonuses.send()
        bonuses.settle()
        assert bonuses.got(row) == [40, 40]
        [book] = reconcile(environment="panel")
        assert (book.ledger_cents, book.theirs_cents, len(book.differences)) == (40, 80, 1)
        assert is_held(row)

    def test_what_is_parked_is_neither_a_difference_nor_settled(self, bonuses: Bonuses, panel: PanelServer) -> None:
        parked_one(bonuses, panel)
        [book] = reconcile(environment="panel")
        assert (book.differences, book.on_the_way) == ([], 1)

    def test_a_restored_database_sends_nothing_that_it_may_have_sent(self, bonuses: Bonuses) -> None:
        [row, later] = bonuses.people(2)
        bonuses.promise(row)
        bonuses.promise(later)
        count_send("panel")
        RecruiterAccount.objects.update(sends=0)  # as a backup has it
        bonuses.send()
        reconcile(environment="panel")
        bonuses.send()
        assert set(states()) == {WriteState.PARKED}
        assert set(Payment.objects.values_list("last_error", flat=True)) == {FORGOTTEN}


class TestSetBack:
    """What database and disk have forgotten together, the recruiter's list still tells."""

    def forgotten(self, bonuses: Bonuses, count: int) -> list[Assignment]:
        """Bonuses that were paid, as planned ones: a copy of both from before the round, put back."""
        rows = bonuses.people(count)
        for row in rows:
            bonuses.promise(row, cents=50)
        planned = {row.pk: row.__dict__.copy() for row in Payment.objects.all()}
        assert not notice_restoring("panel")
        counted = RecruiterAccount.objects.get(environment="panel").sends
        file = file_of("panel").read_text()
        bonuses.send()
        bonuses.settle()
        assert set(states()) == {WriteState.CONFIRMED} and [bonuses.got(row) for row in rows] == [[50]] * count
        for pk, facts in planned.items():
            kept = {field.attname: facts[field.attname] for field in Payment._meta.concrete_fields}
            Payment.objects.filter(pk=pk).update(**kept)
        RecruiterAccount.objects.filter(environment="panel").update(sends=counted, bonus_proved_at=None)
        file_of("panel").write_text(file)
        return rows

    @pytest.mark.gate
    @pytest.mark.promise(2)
    def test_a_copy_of_database_and_disk_put_back_pays_no_bonus_twice(self, bonuses: Bonuses, payer: User) -> None:
        rows = self.forgotten(bonuses, 4)
        for _ in range(3):
            bonuses.send()
            bonuses.settle()
        assert [bonuses.got(row) for row in rows] == [[50]] * 4
        assert set(states()) == {WriteState.PARKED}
        assert "lists £0.50" in Payment.objects.earliest("pk").last_error
        parked = parked_bonuses(bonuses.campaign.study)
        assert [one.before.cents for one in parked if one.before] == [(50,)] * 4
        ids = list(Payment.objects.values_list("pk", flat=True))
        found_paid(study=bonuses.campaign.study, payments=ids[1:], note="Theirs.", by=payer)
        pay_again(study=bonuses.campaign.study, payments=ids[:1], note="Another one.", by=payer)
        bonuses.send()
        bonuses.settle()
        assert [bonuses.got(row) for row in rows] == [[50, 50], [50], [50], [50]]
        assert set(states()) == {WriteState.CONFIRMED}

    def test_the_others_of_a_call_are_paid(self, bonuses: Bonuses) -> None:
        self.forgotten(bonuses, 1)
        [other] = bonuses.people(1)
        bonuses.promise(other)
        bonuses.send()
        bonuses.settle()
        assert (states(), bonuses.got(other)) == ([WriteState.PARKED, WriteState.CONFIRMED], [40])

    def test_a_payment_by_hand_is_caught_before_money_moves(self, bonuses: Bonuses, payer: User) -> None:
        [row] = bonuses.people(1)
        plan = bonuses.lab.plan(bonuses.study, (row.assignment_id, "0.30"))
        bonuses.lab.post(f"bulk-bonus-payments/{plan['id']}/pay/")
        bonuses.pass_time(minutes=20)
        bonuses.promise(row)
        bonuses.send()
        assert (states(), bonuses.got(row)) == ([WriteState.PARKED], [30])
        assert "lists £0.30" in Payment.objects.get().last_error
        pay_again(
            study=bonuses.campaign.study, payments=[Payment.objects.get().pk], note="That was for the bus.", by=payer
        )
        bonuses.send()
        bonuses.settle()
        assert (states(), bonuses.got(row)) == ([WriteState.CONFIRMED], [30, 40])

    def test_on_another_machine_what_is_planned_is_left_to_a_person(self, bonuses: Bonuses) -> None:
        """The folder was not copied, and nobody knows what was sent since."""
        [row] = bonuses.people(1)
        bonuses.promise(row)
        bonuses.send()
        bonuses.settle()
        bonuses.promise(row, cause="later")
        file_of("panel").unlink()
        bonuses.send()
        reconcile(environment="panel")
        bonuses.send()
        assert (states(), bonuses.got(row)) == ([WriteState.CONFIRMED, WriteState.PARKED], [40])
        assert Payment.objects.get(cause="later").last_error == FORGOTTEN
        assert Payment.objects.get(cause="later").listed_unsent["cents"] == [40]


class TestFirstBonus:
    def test_none_is_dear_before_one_was_seen_to_arrive(self, bonuses: Bonuses) -> None:
        rows = bonuses.people(2)
        with pytest.raises(CapExceeded, match=r"1\.00 first"):
            bonuses.promise(rows[0], cents=101)
        bonuses.promise(rows[0], cents=100)
        bonuses.send()
        with pytest.raises(CapExceeded):
            bonuses.promise(rows[1], cents=101)
        bonuses.settle()
        assert RecruiterAccount.objects.get(environment="panel").bonus_proved_at is not None
        assert bonuses.promise(rows[1], cents=101).state == WriteState.PLANNED


def test_looks_come_at_first_often_and_then_every_hour(bonuses: Bonuses, panel: PanelServer) -> None:
    [row] = bonuses.people(1)
    bonuses.promise(row)
    panel.arm(PAY, "lost_before")
    bonuses.send()
    looks = []
    for _ in range(30):
        bonuses.pass_time(minutes=1)
        bonuses.send()
        latest = Listing.of(Payment.objects.get().listed_after)
        looks.append(latest.looks if latest else 0)
    assert [looks[1], looks[3], looks[5], looks[16], looks[29]] == [1, 1, 2, 3, 3]
    payment, before = Payment.objects.get(), Listing.of(Payment.objects.get().evidence_before)
    assert payment.look_at is not None and before is not None
    assert payment.look_at - before.seen_at == timedelta(hours=1)
