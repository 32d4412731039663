"""One class per kind of write about money and people, and which class delivers which row."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import cast

from django.db import transaction

from humanexp.core import clock
from humanexp.core.errors import NotAtRecruiter, RecruiterError, RecruiterUnavailable
from humanexp.ledger.delivery import DONE, NOT_DONE, Delivery, WriteOutcome
from humanexp.ledger.hit_calls import (
    HitCreation,
    HitExpiry,
    HitGrowth,
    HitPause,
    HitProlonging,
    HitResumption,
    publish_qualification,
)
from humanexp.ledger.models import Call, CallKind
from humanexp.ledger.outbox import OPEN_AGAIN, plan_resuming
from humanexp.ledger.reconciliation import is_held, known_markers
from humanexp.recruiters.models import Assignment, QualificationType, RecruiterAccount
from humanexp.recruiters.port import BonusOrder, Pausing, Proof, Recruiter, RewardOrder
from humanexp.recruiters.states import UNFINISHED, AssignmentState, advance

NOBODY = "The person has been deleted; there is nobody to pay."


class Reward(Delivery):
    """ApproveAssignment."""

    repeats = "approve"

    def ask(self) -> WriteOutcome:
        report = self.recruiter.submission(self.assignment.assignment_id)
        if report is None:
            return NOT_DONE
        if report.state == AssignmentState.REJECTED and not self._overrides:
            return WriteOutcome(
                is_done=False, refusal="The assignment is rejected; a person has to override the rejection."
            )
        if report.state in (AssignmentState.RETURNED, AssignmentState.TIMED_OUT):
            return WriteOutcome(is_done=False, refusal="The person has no place there any more; pay a bonus instead.")
        return DONE if report.state == AssignmentState.APPROVED else NOT_DONE

    def carry_out(self) -> None:
        self.recruiter.pay(
            RewardOrder(
                submission_id=self.assignment.assignment_id,
                feedback=self.call.reason,
                overrides_rejection=self._overrides,
            )
        )

    @transaction.atomic
    def confirm(self) -> None:
        super().confirm()
        if self.assignment.state != AssignmentState.APPROVED:
            advance(self.assignment, AssignmentState.APPROVED, decided_at=clock.now())

    @property
    def _overrides(self) -> bool:
        """Rejected as far as we know, and yet somebody planned this payment."""
        return bool(self.assignment.state == AssignmentState.REJECTED and self.call.created_by_id)


class Bonus(Delivery):
    """SendBonus, for bonuses and compensations; found again by the marker at the end of its reason.

    Database and disk may have been set back together: what neither remembers, the recruiter's list still tells.
    """

    repeats = "bonus"
    asks_first = True

    def waits_for(self) -> str:
        """A person has to look first where the books differ, or may: paid twice cannot be undone."""
        if is_held(self.assignment):
            return (
                "The ledger and the recruiter differ about this assignment or its campaign; "
                "a person must look into it first."
            )
        if RecruiterAccount.objects.filter(environment=self.call.environment, to_compare_since__isnull=False).exists():
            return "The ledger and the recruiter are compared first: this database was restored, or they differed."
        return ""

    def ask(self) -> WriteOutcome:
        order = self._order()
        if order is None:
            return WriteOutcome(is_done=False, refusal=NOBODY)
        match self.recruiter.evidence(order):
            case Proof.PAID:
                return DONE
            case Proof.UNCLEAR:
                return WriteOutcome(
                    is_done=False,
                    wait="The recruiter lists a bonus for this submission that no payment here explains: a person "
                    "must look at the differences in the ledger first.",
                )
        return NOT_DONE

    def carry_out(self) -> None:
        order = self._order()
        if order is None:
            raise RecruiterError(NOBODY)
        self.recruiter.pay(order)

    def _order(self) -> BonusOrder | None:
        """None once the person has been deleted."""
        assignment = self.assignment
        if assignment.person is None:
            return None
        return BonusOrder(
            submission_id=assignment.assignment_id,
            person_id=assignment.person.worker_id,
            amount_cents=self.call.amount_cents,
            reason=f"{self.call.reason} {self.call.marker}",
            marker=self.call.marker,
            token=self.call.token,
            known_markers=known_markers(assignment),
        )


class RejectAssignment(Delivery):
    """RejectAssignment."""

    repeats = "reject"

    def ask(self) -> WriteOutcome:
        report = self.recruiter.submission(self.assignment.assignment_id)
        if report is not None and report.state == AssignmentState.APPROVED:
            return WriteOutcome(is_done=False, refusal="The assignment is approved already.")
        return DONE if report is not None and report.state == AssignmentState.REJECTED else NOT_DONE

    def carry_out(self) -> None:
        self.recruiter.reject(
            self.assignment.assignment_id, reason=self.call.reason, category=self.call.payload["category"]
        )

    @transaction.atomic
    def confirm(self) -> None:
        super().confirm()
        if self.assignment.state == AssignmentState.SUBMITTED:
            advance(
                self.assignment,
                AssignmentState.REJECTED,
                decided_at=clock.now(),
                rejection_reason=self.call.reason,
            )
        if self.recruiter.capabilities.pauses and self.assignment.hit is not None:
            plan_resuming(hit=self.assignment.hit)  # somebody else can have the place


#: Who is asked to give a place back is waited for so long; then a person decides.
RETURNED_WITHIN = timedelta(days=7)
GONE = WriteOutcome(is_done=False, refusal="The person has been deleted.")


class Mark(Delivery):
    """AssociateQualificationWithWorker, or Disassociate...; where there is nothing of the kind, our row is all."""

    repeats = "mark"

    @property
    def qualification(self) -> QualificationType:
        return cast(QualificationType, self.call.qualification)

    def waits_for(self) -> str:
        """The last word about a person has to arrive last."""
        call = self.call
        rows = Call.objects.filter(qualification=call.qualification_id, person=call.person_id)
        earlier = rows.filter(pk__lt=call.pk, state__in=UNFINISHED)
        return "An earlier change of this qualification is on its way." if earlier.exists() else ""

    def ask(self) -> WriteOutcome:
        if self.call.person is None:
            return GONE
        if not self.recruiter.capabilities.vouches:
            return DONE
        type_id = self.qualification.type_id
        is_held = bool(type_id) and self.recruiter.holds(type_id, self.call.person.worker_id)
        return DONE if is_held == (self.call.kind == CallKind.GRANT) else NOT_DONE

    def carry_out(self) -> None:
        person = self.call.person
        if person is None:
            raise RecruiterError(GONE.refusal)
        if not self.recruiter.capabilities.vouches:
            return
        type_id = publish_qualification(self.qualification, self.recruiter).type_id
        try:
            if self.call.kind == CallKind.GRANT:
                self.recruiter.grant(type_id, person.worker_id)
            else:
                self.recruiter.revoke(type_id, person.worker_id, reason=OPEN_AGAIN)
        except NotAtRecruiter as err:
            # anybody can type an id into the entry page's address
            raise RecruiterError("The recruiter knows no such worker.") from err


class AskForReturn(Delivery):
    """Its lists tell whether somebody was asked; one that may have been is not asked twice."""

    repeats = "message"
    is_idempotent = True

    def ask(self) -> WriteOutcome:
        report = self.recruiter.submission(self.assignment.assignment_id)
        if report is None or report.state != AssignmentState.SUBMITTED:
            return WriteOutcome(is_done=False, refusal="It is not submitted any more.")
        return DONE if report.is_return_requested else NOT_DONE

    def carry_out(self) -> None:
        cast(Pausing, self.recruiter).ask_for_return(self.assignment.assignment_id, reason=self.call.reason)

    def confirm(self) -> None:
        super().confirm()
        Assignment.objects.filter(pk=self.assignment.pk, return_due_at=None).update(
            return_due_at=clock.now() + RETURNED_WITHIN
        )


class WorkerMessage(Delivery):
    """NotifyWorkers. Nobody tells whether a message arrived, so one of unknown fate is not sent again."""

    repeats = "message"
    #: what `ask` says decides it: one that may have been sent is refused
    is_idempotent = True

    def ask(self) -> WriteOutcome:
        if self.call.ask_first:
            return WriteOutcome(
                is_done=False, refusal="The database was restored: the message may have been sent before."
            )
        if self.call.first_sent_at is None:
            return NOT_DONE
        return WriteOutcome(
            is_done=False, refusal="The reply was lost: the message may have arrived. It is not sent again."
        )

    def carry_out(self) -> None:
        person = self.assignment.person
        if person is None:
            raise RecruiterError(GONE.refusal)
        self._sent_at(clock.now())
        try:
            failed = self.recruiter.notify(
                [person.worker_id],
                subject=self.call.payload["subject"],
                text=self.call.reason,
                offer_id=self.assignment.hit.hit_id if self.assignment.hit else "",
            )
        except RecruiterUnavailable:
            self._sent_at(None)  # certainly not sent: it may go out again
            raise
        if failed:
            raise RecruiterError("The recruiter could not reach this person; it passes words to people it has paid.")

    def _sent_at(self, at: datetime | None) -> None:
        Call.objects.filter(pk=self.call.pk).update(first_sent_at=at)
        self.call.first_sent_at = at


_DELIVERIES: Mapping[str, type[Delivery]] = {
    CallKind.REWARD: Reward,
    CallKind.BONUS: Bonus,
    CallKind.COMPENSATION: Bonus,
    CallKind.REJECT: RejectAssignment,
    CallKind.CREATE: HitCreation,
    CallKind.EXPIRE: HitExpiry,
    CallKind.EXTEND: HitGrowth,
    CallKind.PROLONG: HitProlonging,
    CallKind.PAUSE: HitPause,
    CallKind.RESUME: HitResumption,
    CallKind.GRANT: Mark,
    CallKind.REVOKE: Mark,
    CallKind.RETURN: AskForReturn,
    CallKind.MESSAGE: WorkerMessage,
}


def delivery_of(recruiter: Recruiter, call: Call) -> Delivery:
    return _DELIVERIES[call.kind](recruiter, call)
