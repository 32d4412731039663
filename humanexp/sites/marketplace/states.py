"""The two state machines, as functions of facts and time. Nothing here is stored."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

#: A reviewable HIT is disposed of by itself after this.
DISPOSED_AFTER_DAYS = 120
#: A rejection can be taken back until this long after the submission.
OVERRIDE_DAYS = 30


class AssignmentState(StrEnum):
    #: A worker is at work on it.
    ACCEPTED = "Accepted"
    #: Given back by the worker.
    RETURNED = "Returned"
    #: The deadline passed without a submission.
    ABANDONED = "Abandoned"
    #: Waits for the requester; approved by time when nothing is said.
    SUBMITTED = "Submitted"
    APPROVED = "Approved"
    REJECTED = "Rejected"


class HITState(StrEnum):
    #: Workers can take it.
    ASSIGNABLE = "Assignable"
    #: Nobody can take it, somebody is still at work.
    UNASSIGNABLE = "Unassignable"
    #: Expired or full, and nobody at work.
    REVIEWABLE = "Reviewable"
    #: The same, and the requester has marked it.
    REVIEWING = "Reviewing"
    DISPOSED = "Disposed"


def assignment_state(
    *,
    now: datetime,
    deadline_at: datetime,
    returned_at: datetime | None,
    submitted_at: datetime | None,
    auto_approves_at: datetime | None,
    approved_at: datetime | None,
    rejected_at: datetime | None,
    was_abandoned: bool = False,
) -> AssignmentState:
    """An approval after a rejection is the override: approved is final."""
    if submitted_at is None:
        if was_abandoned:
            return AssignmentState.ABANDONED
        if returned_at is not None:
            return AssignmentState.RETURNED
        return AssignmentState.ACCEPTED if now < deadline_at else AssignmentState.ABANDONED
    if approved_at is not None:
        return AssignmentState.APPROVED
    if rejected_at is not None:
        return AssignmentState.REJECTED
    if auto_approves_at is not None and auto_approves_at <= now:
        return AssignmentState.APPROVED
    return AssignmentState.SUBMITTED


def hit_state(
    *,
    now: datetime,
    accepted: int,
    available: int,
    expires_at: datetime,
    disposed_at: datetime | None,
    is_reviewing: bool = False,
) -> HITState:
    """Expiry stops nobody of the `accepted` who are at work; `available` are places that nobody has."""
    if disposed_at is not None:
        return HITState.DISPOSED
    expired = expires_at <= now
    if not expired and available:
        return HITState.ASSIGNABLE
    if accepted:
        return HITState.UNASSIGNABLE
    if expired and expires_at + timedelta(days=DISPOSED_AFTER_DAYS) <= now:
        return HITState.DISPOSED
    return HITState.REVIEWING if is_reviewing else HITState.REVIEWABLE
