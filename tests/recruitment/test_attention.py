"""What goes wrong between us and a recruiter has a row that says what it is and what can be done."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import AuditEvent, User
from humanexp.ledger import sender
from humanexp.ledger.bonuses import compensate, note_paid_by_hand
from humanexp.ledger.budgets import raise_cap
from humanexp.ledger.models import Call, Payment
from humanexp.ledger.outbox import try_keys_again
from humanexp.ledger.owed import owed as everybody_owed, owed_cents
from humanexp.ledger.payments import notices
from humanexp.ledger.rejections import reject, rejections, signs_against
from humanexp.ledger.settlement import clear, override_rejection, plan_bonus, settle
from humanexp.participation.endings import leave_session
from humanexp.participation.models import Session
from humanexp.participation.sessions import SessionClaim
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.extension import stop
from humanexp.recruiting.people import notify
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from humanexp.studies.waiting import Waiting
from tests.marketplace.server import MarketplaceServer
from tests.recruitment.studies import Visitor
from tests.recruitment.workers import Worker

Launch = Callable[..., Campaign]
NewWorker = Callable[[], Worker]
REASON = "Both accounts were used by one person, from one address."


@pytest.fixture
def ada(study: Study) -> User:
    made = User.objects.create_user("ada", password="x")
    study.memberships.create(user=made, role="owner")
    return made


def send() -> Any:
    return sender.send(environment="marketplace")


def told(study: Study, kind: str) -> Waiting:
    [found] = [one for one in attention(study) if one.kind == kind]
    assert found.text
    assert found.remedy
    return found


def nothing_waits(study: Study) -> bool:
    return not [one for one in attention(study) if one.severity != "note"]


def let_the_deadline_pass(campaign: Campaign) -> None:
    Assignment.objects.update(opened_at=timezone.now() - campaign.assignment_duration - timedelta(hours=1))
    Session.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))


class TestFinishedHereAndNeverSubmitted:
    @pytest.fixture
    def lost(self, launch: Launch, new_worker: NewWorker) -> tuple[Worker, Assignment]:
        campaign, worker = launch(assignments=3), new_worker()
        visitor = worker.accept(campaign)
        visitor.open()
        visitor.answer_all()
        worker.client.give_back(visitor.person["assignmentId"])
        sync(study=campaign.study)
        return worker, Assignment.objects.get()

    def test_until_the_deadline_they_may_still_submit(self, lost: tuple[Worker, Assignment], ada: User) -> None:
        _, row = lost
        assert nothing_waits(row.campaign.study)
        with pytest.raises(Conflict, match="can still submit"):
            compensate(assignment=row, by=ada)

    def test_then_they_are_paid_by_hand_where_no_bonus_reaches_them(
        self, lost: tuple[Worker, Assignment], ada: User
    ) -> None:
        _, row = lost
        study = row.campaign.study
        let_the_deadline_pass(row.campaign)
        sync(study=study)
        row.refresh_from_db()
        assert (row.state, row.session.state) == ("returned", "completed")
        with pytest.raises(Conflict, match="has not listed this assignment"):
            plan_bonus(assignment=row, amount_cents=10, cause="care", reason="For your care.")
        assert told(study, "not-submitted").subject_pk == row.pk
        with pytest.raises(Conflict, match="for submitted work alone"):
            compensate(assignment=row, by=ada)
        for _ in range(2):
            note_paid_by_hand(assignment=row, by=ada)
        assert nothing_waits(study) and not Payment.objects.exists()
        assert AuditEvent.objects.filter(action="pay-by-hand").count() == 1
        assert Session.objects.get().is_verified, "who decides to pay vouches for the work"
        with pytest.raises(Conflict, match="was paid by hand"):
            compensate(assignment=row, by=ada)

    def test_who_was_paid_by_hand_and_submits_after_all_is_looked_at_first(
        self, lost: tuple[Worker, Assignment], ada: User
    ) -> None:
        _, row = lost
        study = row.campaign.study
        let_the_deadline_pass(row.campaign)
        sync(study=study)
        note_paid_by_hand(assignment=row, by=ada)
        Assignment.objects.update(state="submitted", evidence="receipt", submitted_at=timezone.now())
        assert settle(study=study).planned == 0
        assert [(one.why, one.hold) for one in everybody_owed(study)] == [("submitted", "look")]
        clear(assignment=row, by=ada)
        assert Payment.objects.get().kind == "reward"

    def test_who_has_other_work_here_gets_a_bonus_on_it(
        self, lost: tuple[Worker, Assignment], ada: User, launch: Launch
    ) -> None:
        _, row = lost
        let_the_deadline_pass(row.campaign)
        sync(study=row.campaign.study)
        raise_cap(campaign=row.campaign, cap_cents=1_000, by=ada)
        other = Assignment.objects.create(
            campaign=row.campaign,
            hit=row.campaign.hits.get(),
            environment=row.environment,
            assignment_id="AOTHER",
            person=row.person,
            state="approved",
        )
        for _ in range(2):
            paid = compensate(assignment=row, by=ada)
        assert (paid.kind, paid.assignment, paid.amount_cents) == ("compensation", other, 120)
        assert Payment.objects.count() == 1
        assert nothing_waits(row.campaign.study)

    def test_who_submits_late_after_all_is_paid_as_everybody(
        self, launch: Launch, new_worker: NewWorker, ada: User
    ) -> None:
        campaign, worker = launch(), new_worker()
        visitor = worker.accept(campaign)
        visitor.open()
        receipt = visitor.answer_all()["receipt"]
        let_the_deadline_pass(campaign)
        sync(study=campaign.study)
        assert told(campaign.study, "not-submitted")
        worker.submit(visitor, receipt)
        sync(study=campaign.study)
        assert nothing_waits(campaign.study)
        with pytest.raises(Conflict, match="pay its reward"):
            compensate(assignment=Assignment.objects.get(), by=ada)
        assert settle(study=campaign.study).planned == 1


class TestLeftEarly:
    """What the study pays is the same whether the answers stay or not, and a person releases it."""

    @pytest.mark.parametrize("keeps", [True, False])
    @pytest.mark.parametrize(("pays", "cents"), [("none", None), ("share", 40), ("full", 120)])
    def test_pay_is_the_same_for_keeping_and_deleting(
        self, launch: Launch, new_worker: NewWorker, ada: User, keeps: bool, pays: str, cents: int | None
    ) -> None:
        campaign, worker = launch(assignments=3), new_worker()
        study = campaign.study
        study.configuration["recruitment"] = {"pay_on_leaving": pays}
        study.save()
        Campaign.objects.update(estimated_minutes=15)
        visitor = worker.accept(campaign)
        visitor.open()
        leave_session(claim=SessionClaim(visitor.session.pk, visitor.session.token_nonce), keeps_answers=keeps)
        worker.client.give_back(visitor.person["assignmentId"])
        left = Session.objects.get()
        Session.objects.update(opened_at=(left.left_at or left.withdrawn_at) - timedelta(minutes=5))
        let_the_deadline_pass(campaign)
        sync(study=study)
        row = Assignment.objects.get()
        assert row.state == "returned" and (row.session.left_at is not None) is keeps
        assert row.session.state == ("open" if keeps else "withdrawn"), "answers that stay are not taken back later"
        if cents is None:
            assert nothing_waits(study)
            return
        assert told(study, "not-submitted").subject_pk == row.pk and owed_cents(row) == cents
        [owed] = everybody_owed(study)
        assert (owed.amount_cents, owed.hold) == (cents, "by-hand")

    def test_the_share_is_never_more_than_the_pay(self, launch: Launch, new_worker: NewWorker) -> None:
        campaign, worker = launch(), new_worker()
        campaign.study.configuration["recruitment"] = {"pay_on_leaving": "share"}
        campaign.study.save()
        visitor = worker.accept(campaign)
        visitor.open()
        leave_session(claim=SessionClaim(visitor.session.pk, visitor.session.token_nonce))
        Session.objects.update(opened_at=timezone.now() - timedelta(days=1))
        assert owed_cents(Assignment.objects.get()) == campaign.reward_cents


class TestSubmittedThereAndUnknownHere:
    def test_it_is_shown_and_a_person_clears_it(self, launch: Launch, new_worker: NewWorker, ada: User) -> None:
        campaign, worker = launch(), new_worker()
        worker.submit(worker.accept(campaign))
        sync(study=campaign.study)
        found = told(campaign.study, "unmatched")
        assert (found.count, found.subject_pk) == (1, Assignment.objects.get().pk)
        clear(assignment=Assignment.objects.get(), by=ada)
        assert nothing_waits(campaign.study)
        assert send().confirmed == 1


class TestReturnedAndAcceptedAgainUnderTheSameId:
    def test_by_the_same_worker_goes_on_where_it_stopped(self, launch: Launch, new_worker: NewWorker) -> None:
        campaign, worker = launch(), new_worker()
        visitor = worker.accept(campaign)
        visitor.open()
        first = visitor.session
        Assignment.objects.update(state="returned")
        again = Visitor(campaign, **_person(visitor))
        assert again.open(secret=visitor.secret()).status_code == 201
        assert again.session == first
        worker.submit(again, again.answer_all()["receipt"])
        sync(study=campaign.study)
        assert settle(study=campaign.study).planned == 1
        assert nothing_waits(campaign.study)

    def test_by_another_worker_is_two_rows_and_one_is_paid(self, launch: Launch, new_worker: NewWorker) -> None:
        campaign, first, second = launch(), new_worker(), new_worker()
        visitor = second.accept(campaign)
        before = Visitor(campaign, **{**_person(visitor), "worker_id": first.worker_id})
        before.open()  # the first one had it, began, and gave it back
        visitor.open()
        second.submit(visitor, visitor.answer_all()["receipt"])
        report = sync(study=campaign.study)
        assert (report.submitted, report.unmatched, report.returned) == (1, 0, 1)
        states = dict(Assignment.objects.values_list("person__worker_id", "state"))
        assert states == {first.worker_id: "returned", second.worker_id: "submitted"}
        assert Session.objects.get(pk=before.session.pk).state == "withdrawn"
        found = told(campaign.study, "taken-over")
        assert (found.severity, found.count) == ("note", 1)
        assert settle(study=campaign.study).planned == 1
        send()
        assert Payment.objects.get().assignment.person.worker_id == second.worker_id


class TestOneWorkerWithSeveralHits:
    def test_the_second_one_takes_over_once_asked_and_one_is_paid(
        self, launch: Launch, new_worker: NewWorker, ada: User
    ) -> None:
        campaign, worker = launch(assignments=2, assignments_per_hit=1), new_worker()
        first, second = worker.accept(campaign, 1), worker.accept(campaign, 2)
        first.open()
        assert second.open().json()["type"] == "already-begun"
        assert second.open(continueHere=True, secret=first.secret()).status_code == 201
        receipt = second.answer_all()["receipt"]
        worker.submit(second, receipt)
        worker.submit(first, receipt)
        sync(study=campaign.study)
        assert settle(study=campaign.study).planned == 1
        found = told(campaign.study, "unmatched")
        paid = Assignment.objects.get(session__isnull=False)
        assert Payment.objects.get().assignment_id == paid.pk
        assert found.subject_pk == Assignment.objects.exclude(pk=paid.pk).get().pk

    def test_work_done_twice_counts_once_and_a_person_decides_about_the_second(
        self, launch: Launch, new_worker: NewWorker, ada: User
    ) -> None:
        campaign, worker = launch(assignments=2, assignments_per_hit=1), new_worker()
        worker.do(campaign, 1)
        second = worker.accept(campaign, 2)  # before the recruiter has listed the first
        assert second.open().json()["begin_here"] is True
        assert second.open(beginHere=True).status_code == 201
        worker.submit(second, second.answer_all()["receipt"])
        report = sync(study=campaign.study)
        assert (report.submitted, report.unmatched) == (2, 1)
        assert Session.objects.filter(is_verified=True).count() == 1
        assert settle(study=campaign.study).planned == 1
        found = told(campaign.study, "extra")
        extra = Assignment.objects.get(evidence="extra")
        assert found.subject_pk == extra.pk and not extra.session.is_verified
        clear(assignment=extra, by=ada)
        assert Payment.objects.count() == 2
        assert Session.objects.filter(is_verified=True).count() == 1


class TestKeys:
    def test_an_expired_key_pauses_every_writer_and_sending_goes_on_by_itself(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, ada: User
    ) -> None:
        campaign = launch()
        new_worker().do(campaign)
        sync(study=campaign.study)
        send()
        settle(study=campaign.study)
        marketplace.arm("*", "expired_key", times=1_000)
        send()
        assert "Nothing is sent" in told(campaign.study, "keys").remedy
        assert Payment.objects.get().state in ("planned", "sending")
        for _ in range(2):  # nobody writes while it lasts
            assert send().confirmed == 0
        assert Payment.objects.get().attempts <= 1
        marketplace.clear_faults()
        try_keys_again(environment="marketplace", by=ada)
        sync(study=campaign.study)
        assert "keys" not in {one.kind for one in attention(campaign.study)}
        assert send().confirmed == 1
        assert nothing_waits(campaign.study)

    def test_polling_finds_it_out_too(self, marketplace: MarketplaceServer, launch: Launch) -> None:
        campaign = launch()
        marketplace.arm("*", "expired_key", times=1_000)
        sync(study=campaign.study)
        assert told(campaign.study, "keys")
        marketplace.clear_faults()
        sync(study=campaign.study)
        assert nothing_waits(campaign.study)


class TestHitThatFilledWhilePublishingWasCut:
    def test_people_are_let_in_found_and_paid(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        """The reply to CreateHIT is lost; before anybody asks, every place is taken and submitted."""
        marketplace.arm("CreateHITWithHITType", "drop_after_commit")
        campaign = launch()
        assert told(campaign.study, "cut-hit").subject_pk == campaign.hits.get().pk
        pages = other_side.get_paginator("list_hits").paginate(MaxResults=100)
        [hit_id] = [hit["HITId"] for page in pages for hit in page["HITs"] if hit["Title"] == campaign.title]
        for _ in range(2):
            worker = new_worker()
            assignment_id = worker.client.accept(hit_id)["assignment_id"]
            visitor = Visitor(
                campaign, worker_id=worker.worker_id, assignment_id=assignment_id, submit_to=marketplace.url
            )
            assert visitor.open().status_code == 201
            worker.submit(visitor, visitor.answer_all()["receipt"])
        assert send().confirmed == 1
        assert sync(study=campaign.study).submitted == 2
        assert campaign.hits.get().state == "closed"
        assert settle(study=campaign.study).planned == 2
        assert send().confirmed == 2
        assert nothing_waits(campaign.study)


class TestRejections:
    @pytest.fixture
    def row(self, launch: Launch, new_worker: NewWorker) -> Assignment:
        campaign, worker = launch(), new_worker()
        visitor = worker.accept(campaign)
        visitor.open()
        worker.submit(visitor)
        sync(study=campaign.study)
        return Assignment.objects.get()

    def test_one_sign_is_not_enough_without_written_evidence(self, row: Assignment, ada: User) -> None:
        assert signs_against(row) == ("submitted before the last trial",)
        with pytest.raises(InvalidRequest) as caught:
            reject(assignment=row, reason=REASON, by=ada)
        assert list(caught.value.fields) == ["evidence"]
        reject(assignment=row, reason=REASON, by=ada, evidence="The same mouse path in both sessions.")
        send()
        [rejected] = rejections(row.campaign.study)
        assert (rejected.assignment, rejected.reason) == (row.pk, REASON)
        # The recruiter's clock says when it was submitted; the tests' marketplace may be days ahead.
        row.refresh_from_db()
        assert row.calls.get(kind="reject").payload["signs"] == ["submitted before the last trial"]
        assert row.calls.get(kind="reject").payload["evidence"] == "The same mouse path in both sessions."
        assert rejected.override_until == row.submitted_at + timedelta(days=30)
        assert rejected.days_left >= 30

    def test_after_thirty_days_it_is_too_late_to_override(self, row: Assignment, ada: User) -> None:
        reject(assignment=row, reason=REASON, by=ada, evidence="The same mouse path in both sessions.")
        send()
        Assignment.objects.update(submitted_at=timezone.now() - timedelta(days=29, hours=1))
        assert rejections(row.campaign.study)[0].days_left == 1
        Assignment.objects.update(submitted_at=timezone.now() - timedelta(days=31))
        assert rejections(row.campaign.study)[0].days_left == 0
        with pytest.raises(Conflict, match="for 30 days"):
            override_rejection(assignment=row, by=ada)


class TestMessages:
    def test_words_go_out_once_and_never_twice(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, ada: User
    ) -> None:
        campaign, known = launch(assignments=3), new_worker()
        unknown = Worker(marketplace)  # whose work was never judged here: the recruiter passes no words on
        known.do(campaign)
        unknown.accept(campaign).open()
        sync(study=campaign.study)
        settle(study=campaign.study)
        send()
        rows = list(Assignment.objects.filter(campaign=campaign))
        notify(assignments=[*rows, *rows], subject="Thank you", text="The results are out.", by=ada)
        assert Call.objects.filter(kind="message").count() == 2
        marketplace.arm("NotifyWorkers", "throttle")
        for _ in range(3):
            send()
        states = dict(Call.objects.filter(kind="message").values_list("assignment__person__worker_id", "state"))
        assert states == {known.worker_id: "confirmed", unknown.worker_id: "refused"}
        assert "could not reach" in Call.objects.filter(kind="message").get(state="refused").last_error
        notify(assignments=rows[:1], subject="Again", text="One more word.", by=ada)
        marketplace.arm("NotifyWorkers", "drop_before")
        for _ in range(2):
            send()
        last = Call.objects.filter(kind="message").get(payload__subject="Again")
        assert (last.state, last.attempts) == ("refused", 1)
        assert "may have arrived" in last.last_error
        assert notices(campaign.study).count() == 3


def _person(visitor: Visitor) -> dict[str, str]:
    given = visitor.person
    return {
        "worker_id": given["workerId"],
        "assignment_id": given["assignmentId"],
        "submit_to": given["turkSubmitTo"],
    }


def test_a_recruiter_that_nobody_asks_is_an_alarm_while_a_campaign_is_live(launch: Launch) -> None:
    """The page said "last asked two days ago" as it says "a minute ago"."""
    campaign = launch(assignments=3)
    sync(study=campaign.study)
    assert not [one for one in attention(campaign.study) if one.kind == "not-asked"]
    Campaign.objects.update(synced_at=timezone.now() - timedelta(minutes=12))
    found = told(campaign.study, "not-asked")
    assert found.severity == "bad" and "for 12 minutes" in found.text
    stop(study=campaign.study)
    assert not [one for one in attention(campaign.study) if one.kind == "not-asked"]
