"""Writes about money: rewards, bonuses, rejections."""

from __future__ import annotations

from django.db import transaction

from humanexp.core import clock
from humanexp.core.errors import RecruiterError
from humanexp.recruitment import selectors
from humanexp.recruitment.models import RecruiterAccount
from humanexp.recruitment.recruiters.base import BonusOrder, Proof, RewardOrder
from humanexp.recruitment.services.deliveries.base import DONE, NOT_DONE, Delivery, WriteOutcome
from humanexp.recruitment.services.hits import plan_resuming
from humanexp.recruitment.states import AssignmentState, advance

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
        if selectors.is_held(self.assignment):
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
            known_markers=selectors.known_markers(assignment),
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
