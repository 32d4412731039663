"""Prolific's words for states, and what they mean behind the port. No list of them is complete."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from humanexp.recruitment.recruiters.base import OfferReport, SubmissionReport
from humanexp.recruitment.recruiters.prolific_replies import Study, StudyInList, Submission, SubmissionInList
from humanexp.recruitment.states import AssignmentState

#: Studies that nobody has seen yet; they cost nothing and can be thrown away.
DRAFTS = frozenset({"UNPUBLISHED"})
#: Nobody can take a place. STOP ends in either, and neither is final: more places open both again.
CLOSED = frozenset({"COMPLETED", "AWAITING REVIEW"})
#: A person has the place, and may be at work.
AT_WORK = frozenset({"RESERVED", "ACTIVE"})
DECIDED = frozenset({"APPROVED", "PARTIALLY APPROVED", "REJECTED"})
#: Nobody holds the place any more.
IN_VAIN = frozenset({"RETURNED", "TIMED-OUT"})
#: Nothing moves on from these by itself.
FINAL = DECIDED | IN_VAIN
#: Unreviewed submissions are approved after this.
REVIEWED_WITHIN = timedelta(days=21)
#: Others are in motion.
_STATES: Mapping[str, AssignmentState] = {
    "RESERVED": AssignmentState.OPENED,
    "ACTIVE": AssignmentState.OPENED,
    "TIMED-OUT": AssignmentState.TIMED_OUT,
    "AWAITING REVIEW": AssignmentState.SUBMITTED,
    "APPROVED": AssignmentState.APPROVED,
    "PARTIALLY APPROVED": AssignmentState.APPROVED,
    "REJECTED": AssignmentState.REJECTED,
    "RETURNED": AssignmentState.RETURNED,
}


def offer_report(study: StudyInList, counts: Mapping[str, int]) -> OfferReport:
    """`places_taken` leaves out who was rejected, returned the place, or ran out of time: their places are free."""
    free = max(0, study.total_available_places - study.places_taken)
    decided = sum(counts.get(word, 0) for word in DECIDED)
    listed = decided + counts.get("AWAITING REVIEW", 0)
    is_open = study.status == "ACTIVE"
    limit = study.maximum_allowed_time if isinstance(study, Study) else None
    return OfferReport(
        offer_id=study.id,
        annotation=study.internal_name or "",
        is_open=is_open and free > 0,
        places=study.total_available_places,
        available=free,
        pending=max(0, study.places_taken - listed + counts.get("REJECTED", 0)),
        completed=decided,
        expires_at=None,
        word=study.status,
        is_over=study.status in CLOSED,
        withheld=free if study.status == "AWAITING REVIEW" else 0,
        counts={word: count for word, count in counts.items() if count and word != "TOTAL"},
        moving=frozenset(counts) - FINAL - {"TOTAL"},
        time_limit=timedelta(minutes=limit) if limit else None,
    )


def submission_report(row: SubmissionInList | Submission, offer_id: str) -> SubmissionReport | None:
    """None of one in motion."""
    state = _STATES.get(row.status)
    at = row.completed_at or row.started_at
    if state is None or at is None:
        return None
    person, code = (
        (row.participant_id, row.study_code)
        if isinstance(row, SubmissionInList)
        else (row.participant, row.entered_code)
    )
    return SubmissionReport(
        submission_id=row.id,
        person_id=person,
        offer_id=offer_id,
        state=state,
        submitted_at=at,
        auto_approves_at=at + REVIEWED_WITHIN if state == AssignmentState.SUBMITTED else None,
        code=code or "",
        is_return_requested=bool(row.return_requested),
    )
