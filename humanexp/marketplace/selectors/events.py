"""What happened to the HITs of a type between two moments: read from the facts, like every state here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from humanexp.marketplace.models import HIT, Assignment, HITType
from humanexp.marketplace.states import DISPOSED_AFTER_DAYS, HITState, hit_state


@dataclass(frozen=True)
class Happening:
    event_type: str
    hit_id: str
    happened_at: datetime
    assignment_id: str = ""


def happenings(hit_type: HITType, *, after: datetime, until: datetime) -> Iterator[Happening]:
    """In no order; asked about the same moments again, the same."""
    touched: set[int] = set()
    for assignment in _assignments(hit_type, after, until):
        touched.add(assignment.hit_id)
        for event_type, happened_at in _of_assignment(assignment, until):
            if after < happened_at <= until:
                yield Happening(event_type, assignment.hit.hit_id, happened_at, assignment.assignment_id)
    for hit in HIT.objects.filter(_hits_within(after, until) | Q(pk__in=touched), hit_type=hit_type).counted(until):
        for event_type, happened_at in _of_hit(hit, until):
            if after < happened_at <= until:
                yield Happening(event_type, hit.hit_id, happened_at)
        if hit.pk in touched or after < hit.expires_at <= until:
            became_at = _reviewable_since(hit, until)
            if became_at is not None and after < became_at:
                yield Happening("HITReviewable", hit.hit_id, became_at)


def _hits_within(after: datetime, until: datetime) -> Q:
    age = timedelta(days=DISPOSED_AFTER_DAYS)
    within = Q(expires_at__gt=after - age, expires_at__lte=until - age)
    for name in ("created_at", "extended_at", "expires_at", "disposed_at"):
        within |= Q(**{f"{name}__gt": after, f"{name}__lte": until})
    return within


def _assignments(hit_type: HITType, after: datetime, until: datetime) -> QuerySet[Assignment]:
    names = (
        "accepted_at",
        "returned_at",
        "deadline_at",
        "submitted_at",
        "auto_approves_at",
        "approved_at",
        "rejected_at",
    )
    within = Q()
    for name in names:
        within |= Q(**{f"{name}__gt": after, f"{name}__lte": until})
    return Assignment.objects.filter(within, hit__hit_type=hit_type).select_related("hit").defer("answer")


def _of_assignment(assignment: Assignment, now: datetime) -> Iterator[tuple[str, datetime]]:
    yield "AssignmentAccepted", assignment.accepted_at
    if assignment.returned_at:
        yield "AssignmentReturned", assignment.returned_at
    if assignment.submitted_at:
        yield "AssignmentSubmitted", assignment.submitted_at
    elif not assignment.returned_at:
        yield "AssignmentAbandoned", assignment.deadline_at
    if assignment.rejected_at:
        yield "AssignmentRejected", assignment.rejected_at
    approved_at = assignment.approval_time(now)
    if approved_at:
        yield "AssignmentApproved", approved_at


def _of_hit(hit: HIT, now: datetime) -> Iterator[tuple[str, datetime]]:
    yield "HITCreated", hit.created_at
    if hit.extended_at:
        yield "HITExtended", hit.extended_at
    if hit.disposed_at is None or hit.expires_at < hit.disposed_at:
        yield "HITExpired", hit.expires_at
    if hit.disposed_at:
        yield "HITDisposed", hit.disposed_at
    elif _state(hit, now) is HITState.DISPOSED:
        yield "HITDisposed", hit.expires_at + timedelta(days=DISPOSED_AFTER_DAYS)


def _state(hit: HIT, now: datetime) -> HITState:
    return hit_state(now=now, counts=hit.counts, expires_at=hit.expires_at, disposed_at=hit.disposed_at)


def _reviewable_since(hit: HIT, now: datetime) -> datetime | None:
    """When the last place was filled, or the time ran out, and nobody was at work any more."""
    if _state(hit, now) is not HITState.REVIEWABLE:
        return None
    ends = [
        assignment.submitted_at or assignment.returned_at or assignment.deadline_at
        for assignment in hit.assignments.only("submitted_at", "returned_at", "deadline_at")
    ]
    last = max(ends, default=hit.created_at)
    return last if hit.counts.available == 0 else max(last, hit.expires_at)
