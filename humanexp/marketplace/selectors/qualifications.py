"""Qualification types, who has them, and what is known about a worker."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q, QuerySet

from humanexp.marketplace.errors import QualificationTypeDoesNotExist
from humanexp.marketplace.models import Assignment, Qualification, QualificationType, Requester, Worker
from humanexp.marketplace.requirements import Locale, WorkerProfile


def existing_type_ids(qualification_type_ids: Iterable[str]) -> set[str]:
    """Of these, the ones that exist: a requirement may name another requester's type."""
    return set(
        QualificationType.objects.filter(qualification_type_id__in=list(qualification_type_ids)).values_list(
            "qualification_type_id", flat=True
        )
    )


def qualification_type(qualification_type_id: str) -> QualificationType:
    found = QualificationType.objects.filter(qualification_type_id=qualification_type_id).first()
    if found is None:
        raise QualificationTypeDoesNotExist(f"QualificationType {qualification_type_id} does not exist.")
    return found


def matching_types(
    requester: Requester, *, query: str, must_be_requestable: bool, must_be_owned: bool
) -> QuerySet[QualificationType]:
    """Every word of the query occurs in the name, the description or the keywords."""
    types = QualificationType.objects.all()
    if must_be_requestable:
        types = types.filter(status=QualificationType.Status.ACTIVE)
    if must_be_owned:
        types = types.filter(requester=requester)
    for word in query.split():
        types = types.filter(Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word))
    return types


def qualifications_of_type(owned: QualificationType, status: str) -> QuerySet[Qualification]:
    return owned.qualifications.filter(status=status).select_related("worker", "qualification_type")


def profile_of(worker: Worker | None, now: datetime) -> WorkerProfile:
    """Nobody signed in is a worker about whom nothing is known."""
    if worker is None:
        return WorkerProfile()
    granted = worker.qualifications.filter(status=Qualification.Status.GRANTED)
    theirs = Assignment.objects.filter(worker=worker)
    return WorkerProfile(
        qualifications=dict(granted.values_list("qualification_type__qualification_type_id", "value")),
        approved=theirs.approved(now).count(),
        rejected=theirs.rejected().count(),
        locale=Locale(worker.country, worker.subdivision) if worker.country else None,
        is_adult=worker.is_adult,
        is_master=worker.is_master,
    )
