"""Who is paid, who is shown to a person, and what the books say. Against a real marketplace process."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from humanexp.core.errors import Conflict, InvalidRequest, NotAllowed
from humanexp.core.models import AuditEvent, User
from humanexp.jobs import runner, services as jobs
from humanexp.jobs.models import Job
from humanexp.ledger import sender
from humanexp.ledger.delivery import Lease
from humanexp.ledger.figures import payment_summary
from humanexp.ledger.models import Payment
from humanexp.ledger.owed import finished_not_submitted
from humanexp.ledger.payments import free_sessions, unmatched
from humanexp.ledger.reconciliation import reconcile
from humanexp.ledger.rejections import reject
from humanexp.ledger.settlement import clear, override_rejection, plan_bonus, settle, try_again
from humanexp.participation.models import Participant, Response, Session
from humanexp.participation.sessions import holding_slots
from humanexp.recruiters.models import Assignment, Campaign, RecruitedPerson, RecruiterAccount
from humanexp.recruiters.states import AssignmentState, WriteState
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.extension import stop
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.personal_data import delete_participant
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.marketplace.server import MarketplaceServer
from tests.recruitment.studies import DESIGN, LEASE, Visitor, make_study
from tests.recruitment.workers import Worker

Launch = Callable[..., Campaign]
NewWorker = Callable[[], Worker]
REASON = "Both accounts were used by one person, from one address."
EVIDENCE = "The same mouse path, to the pixel, in all forty trials of both sessions."


@pytest.fixture
def researcher(study: Study) -> User:
    made = User.objects.create_user("ada", password="x")
    study.memberships.create(user=made, role="owner")
    return made


def send() -> Any:
    return sender.send(environment="marketplace")


class TestForgedIds:
    def test_a_worker_id_typed_into_the_address_is_never_paid(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker
    ) -> None:
        """Somebody without a HIT does the whole study under another person's id."""
        campaign, victim = launch(), new_worker()
        forger = Visitor(campaign, worker_id=victim.worker_id, assignment_id="A1MADEUP", submit_to=marketplace.url)
        assert forger.open().status_code == 201
        forger.answer_all()
        assert sync(study=campaign.study).submitted == 0
        assert settle(study=campaign.study).planned == 0
        assert not Payment.objects.exists()

    def test_a_session_under_anothers_id_is_shown_to_a_person(self, launch: Launch, new_worker: NewWorker) -> None:
        """A worker accepts a HIT, does it under another id, and submits it as themselves."""
        campaign, worker, victim = launch(), new_worker(), new_worker()
        visitor = worker.accept(campaign)
        visitor.person["workerId"] = victim.worker_id
        visitor.open()
        worker.submit(visitor, visitor.answer_all()["receipt"])
        report = sync(study=campaign.study)
        assert (report.submitted, report.unmatched) == (1, 1)
        settlement = settle(study=campaign.study)
        assert (settlement.planned, settlement.unmatched) == (0, 1)
        [row] = unmatched(campaign.study)
        assert row.evidence == "other-worker"
        assert row.person.worker_id == worker.worker_id

    def test_a_receipt_of_somebody_else_proves_nothing(self, launch: Launch, new_worker: NewWorker) -> None:
        campaign, honest, copyist = launch(), new_worker(), new_worker()
        receipt = honest.do(campaign).status()["receipt"]
        lazy = copyist.accept(campaign)
        lazy.open()
        copyist.submit(lazy, receipt)
        sync(study=campaign.study)
        evidence = dict(Assignment.objects.values_list("person__worker_id", "evidence"))
        assert evidence == {honest.worker_id: "receipt", copyist.worker_id: "unfinished"}
        assert settle(study=campaign.study).planned == 1


class TestUnmatched:
    def test_a_submission_we_know_nothing_of_waits_for_a_person(
        self, launch: Launch, new_worker: NewWorker, researcher: User
    ) -> None:
        campaign, worker = launch(), new_worker()
        worker.submit(worker.accept(campaign))
        sync(study=campaign.study)
        settle(study=campaign.study)
        [row] = unmatched(campaign.study)
        assert (row.evidence, row.state) == ("unknown", "submitted")
        assert RecruitedPerson.objects.get().worker_id == worker.worker_id
        clear(assignment=row, by=researcher)
        assert send().confirmed == 1
        assert unmatched(campaign.study).count() == 0
        event = AuditEvent.objects.get(action="clear")
        assert (event.by, event.facts) == (researcher, {"evidence": "unknown"})

    def test_without_the_receipt_a_finished_session_is_enough(self, launch: Launch, new_worker: NewWorker) -> None:
        campaign, worker = launch(), new_worker()
        visitor = worker.accept(campaign)
        visitor.open()
        visitor.answer_all()
        worker.submit(visitor, "lost")
        sync(study=campaign.study)
        assert Assignment.objects.get().evidence == "session"
        assert settle(study=campaign.study).planned == 1

    def test_if_nobody_looks_they_are_paid_automatically(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker
    ) -> None:
        campaign, worker = launch(), new_worker()
        worker.submit(worker.accept(campaign))
        sync(study=campaign.study)
        marketplace.advance(3 * 86_400 + 60)
        sync(study=campaign.study)
        assert payment_summary(campaign.study)["approved"] == 1
        assert reconcile(environment="marketplace")[0].adds_up

    def test_a_hit_both_submitted_with_one_session_is_paid_once_by_itself(
        self, launch: Launch, new_worker: NewWorker
    ) -> None:
        """Two HITs, one session moved from the first to the second, both submitted with its receipt."""
        campaign, worker = launch(assignments=2, assignments_per_hit=1), new_worker()
        first, second = worker.accept(campaign, 1), worker.accept(campaign, 2)
        first.open()
        second.open(continueHere=True, secret=first.secret())
        receipt = second.answer_all()["receipt"]
        worker.submit(first, receipt)
        worker.submit(second, receipt)
        sync(study=campaign.study)
        assert settle(study=campaign.study).planned == 1
        assert unmatched(campaign.study).count() == 1

    @pytest.mark.parametrize("by_whom", ["two tabs", "a made-up assignment"])
    def test_a_session_that_was_moved_on_is_owed_where_it_was_submitted(
        self, launch: Launch, new_worker: NewWorker, by_whom: str
    ) -> None:
        """Else the submission fits no session, and the session is one that was never submitted: paid twice."""
        campaign, worker = launch(assignments=2, assignments_per_hit=1), new_worker()
        first = worker.accept(campaign, 1)
        first.open()
        receipt = first.answer_all()["receipt"]
        if by_whom == "two tabs":
            second = worker.accept(campaign, 2)
        else:
            second = Visitor(
                campaign, worker_id=worker.worker_id, assignment_id="AMADEUP", submit_to=worker.marketplace.url
            )
        assert second.open(continueHere=True, secret=first.secret()).status_code == 201
        worker.submit(first, receipt)
        assert sync(study=campaign.study).unmatched == 0
        row = Assignment.objects.get(assignment_id=first.person["assignmentId"])
        assert (row.evidence, row.session.state) == ("receipt", "submitted")
        Assignment.objects.update(opened_at=timezone.now() - campaign.assignment_duration - timedelta(hours=1))
        Session.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))
        sync(study=campaign.study)
        assert not finished_not_submitted(campaign.study).exists(), "nothing else is owed"
        assert settle(study=campaign.study).planned == 1


class TestRejection:
    @pytest.fixture
    def row(self, launch: Launch, new_worker: NewWorker) -> Assignment:
        campaign = launch()
        new_worker().do(campaign)
        sync(study=campaign.study)
        return Assignment.objects.get()

    def test_by_a_person_with_a_reason_and_back_again(self, row: Assignment, researcher: User, other_side: Any) -> None:
        for short in ("", "bad work"):
            with pytest.raises(InvalidRequest):
                reject(assignment=row, reason=short, by=researcher, evidence=EVIDENCE)
        reject(assignment=row, reason=REASON, by=researcher, evidence=EVIDENCE)
        assert settle(study=row.campaign.study).planned == 0  # nobody pays what is being rejected
        assert send().confirmed == 1
        row.refresh_from_db()
        assert (row.state, row.rejection_reason) == (AssignmentState.REJECTED, REASON)
        assert _there(other_side, row)["RequesterFeedback"] == REASON
        assert payment_summary(row.campaign.study)["rejected"] == 1
        override_rejection(assignment=row, by=researcher)
        assert send().confirmed == 1
        assert _there(other_side, row)["AssignmentStatus"] == "Approved"
        assert payment_summary(row.campaign.study) == {
            "approved": 1,
            "rejected": 0,
            "bonuses": 0,
            "currency": "USD",
            "owed_cents": 120,
            "paid_cents": 0,
            "fee_cents": 24,
            "total_cents": 144,
            "by_currency": {"USD": {"owed_cents": 120, "paid_cents": 0, "fee_cents": 24, "total_cents": 144}},
        }
        assert reconcile(environment="marketplace")[0].adds_up

    def test_each_decision_is_sent_at_once(self, row: Assignment, researcher: User) -> None:
        """Not only when the minute's round comes by."""

        Campaign.objects.update(cap_cents=1_000)

        def decided(decide: Callable[..., object], **facts: object) -> None:
            Job.objects.all().delete()
            decide(by=researcher, **facts)
            assert Job.objects.filter(kind="recruitment.send", subject="recruiter:marketplace").exists(), decide
            send()

        decided(reject, assignment=row, reason=REASON, evidence=EVIDENCE)
        decided(override_rejection, assignment=row)
        decided(plan_bonus, assignment=row, amount_cents=10, cause="care", reason="thanks")
        bonus = Payment.objects.get(cause="care")
        Payment.objects.filter(pk=bonus.pk).update(state=WriteState.REFUSED)
        bonus.refresh_from_db()
        decided(try_again, payment=bonus)

    def test_what_is_about_to_be_paid_cannot_be_rejected(self, row: Assignment, researcher: User) -> None:
        settle(study=row.campaign.study)
        with pytest.raises(Conflict, match="about to be paid"):
            reject(assignment=row, reason=REASON, by=researcher)

    def test_a_lost_reply_to_a_rejection(
        self, marketplace: MarketplaceServer, row: Assignment, researcher: User
    ) -> None:
        reject(assignment=row, reason=REASON, by=researcher, evidence=EVIDENCE)
        marketplace.arm("RejectAssignment", "drop_after_commit")
        send()
        send()
        row.refresh_from_db()
        assert row.state == AssignmentState.REJECTED

    def test_a_rejection_made_elsewhere_is_seen_and_not_paid(self, row: Assignment, other_side: Any) -> None:
        settle(study=row.campaign.study)
        other_side.reject_assignment(AssignmentId=row.assignment_id, RequesterFeedback="by hand")
        report = send()
        assert report.refused == 1
        payment = Payment.objects.get()
        assert payment.state == WriteState.REFUSED
        assert "override" in payment.last_error
        assert sync(study=row.campaign.study).rejected == 1


class TestBooks:
    def test_a_payment_made_behind_our_back_holds_back_that_persons_bonuses_alone(
        self, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(cap_cents=1_000)
        visitor = new_worker().do(campaign)
        new_worker().do(campaign)
        sync(study=campaign.study)
        settle(study=campaign.study)
        send()
        row, other = Assignment.objects.order_by("pk")
        assert reconcile(environment="marketplace")[0].adds_up
        other_side.send_bonus(
            WorkerId=visitor.person["workerId"], AssignmentId=row.assignment_id, BonusAmount="0.77", Reason="by hand"
        )
        [book] = reconcile(environment="marketplace")
        assert (book.theirs_cents - book.ledger_cents, len(book.differences)) == (77, 1)
        for each in (row, other):
            plan_bonus(assignment=each, amount_cents=5, cause="care", reason="For your care.")
        report = send()
        assert (report.confirmed, report.waiting) == (1, 1)
        assert "the recruiter differ about" in report.remarks[0]
        assert Payment.objects.get(assignment=row, cause="care").state == WriteState.PLANNED
        assert attention(campaign.study)[0].kind == "ledger"

    def test_a_ledger_row_they_do_not_know(self, launch: Launch, new_worker: NewWorker) -> None:
        campaign = launch(cap_cents=1_000)
        new_worker().do(campaign)
        sync(study=campaign.study)
        plan_bonus(assignment=Assignment.objects.get(), amount_cents=5, cause="care", reason="For your care.")
        Payment.objects.update(state=WriteState.CONFIRMED)
        [book] = reconcile(environment="marketplace")
        [row] = Assignment.objects.all()
        assert "not paid there" in book.differences[0] and str(row.person) in book.differences[0]
        noted = str(AuditEvent.objects.filter(action="reconcile").latest("pk").facts)
        assert row.assignment_id not in book.differences[0] and row.assignment_id not in noted

    def test_the_books_are_compared_while_a_sender_is_at_work(self, launch: Launch) -> None:
        launch()
        sender = Lease("marketplace")
        assert sender.renew()
        assert reconcile(environment="marketplace")[0].adds_up
        assert RecruiterAccount.objects.get(environment="marketplace").holder == sender.holder

    def test_what_is_on_its_way_is_on_neither_side(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker
    ) -> None:
        campaign = launch()
        new_worker().do(campaign)
        sync(study=campaign.study)
        settle(study=campaign.study)
        marketplace.arm("ApproveAssignment", "drop_after_commit")
        send()
        [book] = reconcile(environment="marketplace")
        assert (book.adds_up, book.on_the_way, book.ledger_cents) == (True, 1, 0)


def test_whoever_does_not_pass_practice_is_paid_in_full_and_gives_the_place_back(
    launch: Launch, new_worker: NewWorker
) -> None:
    criterion = {"practice_slow": 0, "practice_round": 2, "practice_pass": 2, "practice_rounds": 1}
    made = make_study("practising", design=DESIGN.but(practice_trials=None, **criterion))
    terms = LaunchTerms(to="marketplace", assignments=1, reward_cents=20, title="Practising")
    campaign, worker = publish(study=made, terms=terms), new_worker()
    launch()  # which sends what waits
    campaign.refresh_from_db()
    visitor = worker.accept(campaign)
    assert visitor.open().status_code == 201
    visitor.call("POST", "/api/v1/run/lease/", {"lease": LEASE})
    visitor.fetch_all()
    for trial in visitor.session.trials.filter(role="practice"):
        wrong = "dog" if trial.correct_response != "dog" else "cat"
        reply = visitor.call("POST", "/api/v1/run/responses/", {"position": trial.position, "response": wrong})
    assert reply.json()["cursor"] == visitor.session.total
    done = visitor.call("POST", "/api/v1/run/complete/", {"environment": {}}).json()
    assert done["practised"] is False
    worker.submit(visitor, done["receipt"])
    sync(study=made)
    assert settle(study=made).planned == 1
    send()
    paid = Payment.objects.get(assignment__campaign=campaign)
    assert (paid.amount_cents, Assignment.objects.get(campaign=campaign).evidence) == (20, "receipt")
    assert not holding_slots(made).exists()


def test_a_bonus_needs_a_submission_and_a_recruiter_that_pays(
    launch: Launch, new_worker: NewWorker, study: Any
) -> None:
    campaign = launch(cap_cents=1_000)
    new_worker().accept(campaign).open()
    row = Assignment.objects.get()
    bonus = {"amount_cents": 5, "cause": "care", "reason": "For your care."}
    with pytest.raises(Conflict, match="not listed"):
        plan_bonus(assignment=row, **bonus)
    link = publish(study=study, terms=LaunchTerms(to="link", assignments=1))
    Visitor(link).open()
    with pytest.raises(NotAllowed):
        plan_bonus(assignment=Assignment.objects.get(campaign=link), **bonus)


def test_an_assignment_past_its_deadline_frees_its_place(launch: Launch, new_worker: NewWorker) -> None:
    campaign = launch()
    lost, done = new_worker(), new_worker()
    left = lost.accept(campaign)
    left.open()
    finished = done.accept(campaign)
    finished.open()
    finished.answer_all()
    before = free_sessions(campaign.study)
    assert sync(study=campaign.study).returned == 0
    Assignment.objects.update(opened_at=timezone.now() - campaign.assignment_duration - timedelta(hours=1))
    Session.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))
    assert sync(study=campaign.study).returned == 2
    assert sorted(Session.objects.values_list("state", flat=True)) == ["completed", "withdrawn"]
    assert free_sessions(campaign.study) == before  # the places were promised all along
    done.submit(finished, "late")
    assert sync(study=campaign.study).submitted == 1  # late, and still paid
    assert settle(study=campaign.study).planned == 1


def test_a_clock_that_is_set_forward_ends_nobodys_session(
    launch: Launch, new_worker: NewWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, worker = launch(), new_worker()
    visitor = worker.accept(campaign)
    visitor.open()
    sync(study=campaign.study)
    later = timezone.now() + campaign.assignment_duration + timedelta(hours=2)
    monkeypatch.setattr("humanexp.core.clock.now", lambda: later)
    assert sync(study=campaign.study).returned == 0  # everybody seems to be late
    visitor.answer_all()
    assert sync(study=campaign.study).returned == 0
    assert Session.objects.get().state == "completed"


def test_a_hit_that_was_removed_there_keeps_nobody_else_from_being_listed(
    launch: Launch, new_worker: NewWorker
) -> None:
    campaign, worker = launch(assignments=2, assignments_per_hit=1), new_worker()
    worker.do(campaign, hit_number=2)
    campaign.hits.filter(number=1).update(hit_id="3REMOVEDBYITSAGE")
    report = sync(study=campaign.study)
    assert (report.submitted, report.hits) == (1, 1)
    assert report.remarks == ["marketplace no longer lists the offer 3REMOVEDBYITSAGE: nothing new is learned of it."]


def test_the_jobs_do_it_all_by_themselves(launch: Launch, new_worker: NewWorker, researcher: User) -> None:
    """Publish, poll, pay and compare as the console asks for it: no command, no request to a recruiter from a page."""
    study = launch().study
    stop(study=study)
    campaign = publish(study=study, terms=LaunchTerms(to="marketplace", assignments=1, reward_cents=120), by=researcher)
    assert runner.run_waiting() >= 1
    new_worker().do(campaign)
    jobs.submit("recruitment.sync")
    runner.run_waiting()
    settle(study=study, by=researcher)
    runner.run_waiting()
    jobs.submit("recruitment.reconcile")
    runner.run_waiting()
    assert payment_summary(study)["total_cents"] == 144
    assert {job.state for job in Job.objects.all()} == {"done"}
    assert Job.objects.first().result["books"][0]["payments"] == 1


class TestDeletion:
    def test_nobody_is_deleted_while_a_rejection_is_on_its_way(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, researcher: User
    ) -> None:
        """The recruiter has it and we have not heard so; polling has found the state out before."""
        campaign = launch()
        new_worker().do(campaign)
        sync(study=campaign.study)
        row, code = Assignment.objects.get(), Participant.objects.get().code
        reject(assignment=row, reason=REASON, by=researcher, evidence=EVIDENCE)
        marketplace.arm("RejectAssignment", "drop_after_commit")
        send()
        sync(study=campaign.study)
        row.refresh_from_db()
        assert (row.state, row.calls.get(kind="reject").state) == ("rejected", WriteState.SENDING)
        with pytest.raises(Conflict, match="not been paid"):
            delete_participant(code=code)
        send()
        assert delete_participant(code=code).worker_ids == 1

    def test_a_person_goes_and_the_sums_stay(self, launch: Launch, new_worker: NewWorker) -> None:
        campaign = launch()
        new_worker().do(campaign)
        sync(study=campaign.study)
        code = Participant.objects.get().code
        with pytest.raises(Conflict, match="not been paid"):
            delete_participant(code=code)
        settle(study=campaign.study)
        with pytest.raises(Conflict, match="not been paid"):
            delete_participant(code=code)
        send()
        gone = delete_participant(code=code)
        assert (gone.sessions, gone.answers, gone.worker_ids, gone.payments_kept) == (1, 3, 1, 1)
        assert not any(model.objects.exists() for model in (Participant, RecruitedPerson, Session, Response))
        assert payment_summary(campaign.study)["total_cents"] == 144
        assert reconcile(environment="marketplace")[0].adds_up
        # polling does not bring the person back
        sync(study=campaign.study)
        assert not RecruitedPerson.objects.exists()


def _there(other_side: Any, row: Assignment) -> dict[str, Any]:
    found: dict[str, Any] = other_side.get_assignment(AssignmentId=row.assignment_id)["Assignment"]
    return found
