"""What happened to the HITs of a type between two moments: read from the facts, like every state here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import Q, QuerySet

from humanexp.sites.marketplace.models.assignments import Assignment
from humanexp.sites.marketplace.models.hits import HIT, HITType
from humanexp.sites.marketplace.states import DISPOSED_AFTER_DAYS, HITState


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
        for event_type, happened_at in _of_assignment(assignment, until).items():
            if happened_at and after < happened_at <= until:
                yield Happening(event_type, assignment.hit.hit_id, happened_at, assignment.assignment_id)
    for hit in HIT.objects.filter(_hits_within(after, until) | Q(pk__in=touched), hit_type=hit_type).counted(until):
        for event_type, happened_at in _of_hit(hit, until).items():
            if happened_at and after < happened_at <= until:
                yield Happening(event_type, hit.hit_id, happened_at)
        if hit.pk in touched or after < hit.expires_at <= until:
            became_at = _reviewable_since(hit, until)
            if became_at is not None and after < became_at:
                yield Happening("HITReviewable", hit.hit_id, became_at)


def _hits_within(after: datetime, until: datetime) -> Q:
    age = timedelta(days=DISPOSED_AFTER_DAYS)
    touched = _between(after, until, "created_at", "extended_at", "expires_at", "disposed_at")
    return touched | _between(after - age, until - age, "expires_at")


def _between(after: datetime, until: datetime, *fields: str) -> Q:
    """One of these times lies there."""
    return reduce(or_, (Q(**{f"{field}__gt": after, f"{field}__lte": until}) for field in fields))


def _assignments(hit_type: HITType, after: datetime, until: datetime) -> QuerySet[Assignment]:
    within = _between(
        after,
        until,
        "accepted_at",
        "returned_at",
        "deadline_at",
        "submitted_at",
        "auto_approves_at",
        "approved_at",
        "rejected_at",
    )
    return Assignment.objects.filter(within, hit__hit_type=hit_type).select_related("hit").defer("answer")


def _of_assignment(assignment: Assignment, now: datetime) -> Mapping[str, datetime | None]:
    was_ended = assignment.submitted_at or assignment.returned_at
    return {
        "AssignmentAccepted": assignment.accepted_at,
        "AssignmentReturned": assignment.returned_at,
        "AssignmentSubmitted": assignment.submitted_at,
        "AssignmentAbandoned": None if was_ended else assignment.deadline_at,
        "AssignmentRejected": assignment.rejected_at,
        "AssignmentApproved": assignment.approval_time(now),
    }


def _of_hit(hit: HIT, now: datetime) -> Mapping[str, datetime | None]:
    of_age = hit.expires_at + timedelta(days=DISPOSED_AFTER_DAYS) if hit.state(now) is HITState.DISPOSED else None
    return {
        "HITCreated": hit.created_at,
        "HITExtended": hit.extended_at,
        "HITExpired": None if hit.disposed_at and hit.disposed_at <= hit.expires_at else hit.expires_at,
        "HITDisposed": hit.disposed_at or of_age,
    }


def _reviewable_since(hit: HIT, now: datetime) -> datetime | None:
    """When the last place was filled, or the time ran out, and nobody was at work any more."""
    if hit.state(now) not in (HITState.REVIEWABLE, HITState.REVIEWING):
        return None
    ends = [
        assignment.submitted_at or assignment.returned_at or assignment.deadline_at
        for assignment in hit.assignments.only("submitted_at", "returned_at", "deadline_at")
    ]
    last = max(ends, default=hit.created_at)
    return last if hit.n_available == 0 else max(last, hit.expires_at)
