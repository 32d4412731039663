"""Writes about people: qualifications given and taken back, and messages."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

from humanexp.core import clock
from humanexp.core.errors import NotAtRecruiter, RecruiterError, RecruiterUnavailable
from humanexp.recruitment.models import Assignment, Call, CallKind, QualificationType
from humanexp.recruitment.recruiters.base import Pausing
from humanexp.recruitment.services.deliveries.base import DONE, NOT_DONE, Delivery, WriteOutcome
from humanexp.recruitment.services.deliveries.hits import publish_qualification
from humanexp.recruitment.services.qualifying import OPEN_AGAIN
from humanexp.recruitment.states import UNFINISHED, AssignmentState

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
        if not self.recruiter.capabilities.qualifies:
            return DONE
        type_id = self.qualification.type_id
        is_held = bool(type_id) and self.recruiter.holds(type_id, self.call.person.worker_id)
        return DONE if is_held == (self.call.kind == CallKind.GRANT) else NOT_DONE

    def carry_out(self) -> None:
        person = self.call.person
        if person is None:
            raise RecruiterError(GONE.refusal)
        if not self.recruiter.capabilities.qualifies:
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
