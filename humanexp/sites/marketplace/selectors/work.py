"""A requester's HIT types, HITs, assignments and bonuses. Another requester's do not exist."""

from __future__ import annotations

from datetime import datetime
from functools import reduce
from operator import or_

from django.core import signing
from django.db.models import QuerySet
from django.urls import reverse

from humanexp.sites.marketplace.errors import AssignmentDoesNotExist, HITDoesNotExist, HITTypeDoesNotExist, NotFound
from humanexp.sites.marketplace.models.accounts import Requester
from humanexp.sites.marketplace.models.assignments import (
    Assignment,
    BonusPayment,
    UploadedFile,
    is_approved,
    is_rejected,
    is_submitted,
)
from humanexp.sites.marketplace.models.hits import HIT, HITQuerySet, HITType
from humanexp.sites.marketplace.states import AssignmentState
from humanexp.sites.rows import first_or

#: As long as the real service's addresses work.
_SECONDS = 60
_SALT = "uploaded-file"


def hit_type_of(requester: Requester, hit_type_id: str) -> HITType:
    return first_or(
        HITType.objects.filter(requester=requester, hit_type_id=hit_type_id),
        HITTypeDoesNotExist(f"Hit type {hit_type_id} does not exist."),
    )


def hit_types_asking_for(requester: Requester, qualification_type_id: str) -> list[int]:
    """Keys of the types of which a requirement names this qualification type."""
    types = HITType.objects.filter(requester=requester).values_list("pk", "requirements")
    return [
        pk
        for pk, requirements in types
        if any(one["QualificationTypeId"] == qualification_type_id for one in requirements)
    ]


def hits_of(requester: Requester, now: datetime) -> HITQuerySet:
    return HIT.objects.filter(requester=requester).counted(now)


def hit_of(requester: Requester, hit_id: str, now: datetime) -> HIT:
    return first_or(hits_of(requester, now).filter(hit_id=hit_id), HITDoesNotExist(f"Hit {hit_id} does not exist."))


def assignment_of(requester: Requester, assignment_id: str) -> Assignment:
    return first_or(
        Assignment.objects.select_related("worker", "hit__hit_type", "hit__requester").filter(
            hit__requester=requester, assignment_id=assignment_id
        ),
        AssignmentDoesNotExist(f"Assignment {assignment_id} does not exist."),
    )


def listed_assignments(hit: HIT, states: list[str], now: datetime) -> QuerySet[Assignment]:
    """Submitted, approved and rejected ones, in these states."""
    conditions = {
        AssignmentState.SUBMITTED: is_submitted(now),
        AssignmentState.APPROVED: is_approved(now),
        AssignmentState.REJECTED: is_rejected(),
    }
    assignments = Assignment.objects.select_related("worker", "hit").filter(hit=hit, submitted_at__isnull=False)
    if not states:
        return assignments
    return assignments.filter(reduce(or_, (condition for state, condition in conditions.items() if state in states)))


def bonus_payments_of(requester: Requester) -> QuerySet[BonusPayment]:
    return BonusPayment.objects.filter(requester=requester).select_related("worker", "assignment")


def upload_link(uploaded: UploadedFile) -> str:
    return reverse("upload", args=[signing.dumps(uploaded.key, salt=_SALT)])


def upload_behind(token: str) -> UploadedFile:
    try:
        key = signing.loads(token, salt=_SALT, max_age=_SECONDS)
    except signing.BadSignature as err:
        raise NotFound("This address has expired, or was never given out.") from err
    return first_or(UploadedFile.objects.filter(key=key), NotFound())
