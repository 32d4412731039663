"""Qualification types, who has them, what is known about a worker, and what a worker can ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils.translation import gettext

from humanexp.sites.marketplace.errors import NotFound, PermissionDenied, QualificationTypeDoesNotExist
from humanexp.sites.marketplace.models.accounts import Requester, Worker
from humanexp.sites.marketplace.models.assignments import Assignment, is_approved, is_rejected
from humanexp.sites.marketplace.models.qualifications import Qualification, QualificationRequest, QualificationType
from humanexp.sites.marketplace.requirements import RATE_COUNTS_FROM, Locale, WorkerProfile
from humanexp.sites.rows import first_or


def existing_type_ids(qualification_type_ids: Iterable[str]) -> set[str]:
    """Of these, the ones that exist: a requirement may name another requester's type."""
    return set(
        QualificationType.objects.filter(
            qualification_type_id__in=list(qualification_type_ids), disposed_at=None
        ).values_list("qualification_type_id", flat=True)
    )


def qualification_type(qualification_type_id: str) -> QualificationType:
    return first_or(
        QualificationType.objects.filter(qualification_type_id=qualification_type_id, disposed_at=None),
        QualificationTypeDoesNotExist(f"QualificationType {qualification_type_id} does not exist."),
    )


def owned_type(requester: Requester, qualification_type_id: str) -> QualificationType:
    found = qualification_type(qualification_type_id)
    if found.requester_id != requester.pk:
        raise PermissionDenied("You do not own this QualificationType.")
    return found


def matching_types(
    requester: Requester, *, query: str, must_be_requestable: bool, must_be_owned: bool
) -> QuerySet[QualificationType]:
    """Every word of the query occurs in the name, the description or the keywords."""
    types = QualificationType.objects.filter(disposed_at=None)
    if must_be_requestable:
        types = types.filter(status=QualificationType.Status.ACTIVE)
    if must_be_owned:
        types = types.filter(requester=requester)
    for word in query.split():
        types = types.filter(Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word))
    return types


def qualifications_of_type(owned: QualificationType, status: str) -> QuerySet[Qualification]:
    return owned.qualifications.filter(status=status).select_related("worker", "qualification_type")


def pending_requests(requester: Requester, owned: QualificationType | None) -> QuerySet[QualificationRequest]:
    """What workers have asked of this requester and nobody has decided."""
    requests = QualificationRequest.objects.filter(
        qualification_type__requester=requester, submitted_at__isnull=False, decided_at=None
    ).select_related("worker", "qualification_type")
    return requests if owned is None else requests.filter(qualification_type=owned)


def requestable_types() -> QuerySet[QualificationType]:
    """What workers can ask for, newest first."""
    types = QualificationType.objects.filter(status=QualificationType.Status.ACTIVE, disposed_at=None)
    return types.select_related("requester").order_by("-pk")


def requestable_type(qualification_type_id: str) -> QualificationType:
    return first_or(requestable_types().filter(qualification_type_id=qualification_type_id), NotFound())


def own_request(worker: Worker, request_id: str) -> QualificationRequest:
    return first_or(
        QualificationRequest.objects.select_related("qualification_type__requester", "worker").filter(
            worker=worker, request_id=request_id
        ),
        NotFound(),
    )


def obstacle_of(wanted: QualificationType, last: QualificationRequest | None, now: datetime) -> str | None:
    """Why somebody without the qualification cannot ask for it now.

    A request counts from its beginning: nobody sees a test twice by letting the time run out.
    """
    if last is None:
        return None
    if last.submitted_at is not None and last.decided_at is None:
        return gettext("You have asked for it; the requester has not decided yet.")
    if wanted.retry_delay_seconds is None:
        return gettext("It can be asked for once only, and you have.")
    again_at = last.began_at + timedelta(seconds=wanted.retry_delay_seconds)
    if now < again_at:
        return gettext("You can ask for it again on %(time)s UTC.") % {"time": f"{again_at:%d %b %Y %H:%M}"}
    return None


def profile_of(worker: Worker | None, now: datetime) -> WorkerProfile:
    """Nobody signed in is a worker about whom nothing is known."""
    if worker is None:
        return WorkerProfile()
    granted = worker.qualifications.filter(status=Qualification.Status.GRANTED)
    theirs = Assignment.objects.filter(worker=worker)
    return WorkerProfile(
        qualifications=dict(granted.values_list("qualification_type__qualification_type_id", "value")),
        approved=theirs.filter(is_approved(now)).count(),
        rejected=theirs.filter(is_rejected()).count(),
        locale=Locale(worker.country, worker.subdivision) if worker.country else None,
        is_adult=worker.is_adult,
        is_master=worker.is_master,
    )


@dataclass(frozen=True, kw_only=True)
class OwnQualification:
    """A qualification type as one worker sees it."""

    qualification_type: QualificationType
    pending: bool = False
    #: Why it cannot be asked for now; None: it can.
    obstacle: str | None = None
    #: A test that is being taken.
    open_request: QualificationRequest | None = None


@dataclass(frozen=True, kw_only=True)
class OwnQualifications:
    granted: tuple[Qualification, ...]
    others: tuple[OwnQualification, ...]
    profile: WorkerProfile

    @property
    def rate_counts(self) -> bool:
        return self.profile.approved + self.profile.rejected >= RATE_COUNTS_FROM


def qualifications_of(worker: Worker, now: datetime) -> OwnQualifications:
    granted = tuple(
        worker.qualifications.filter(status=Qualification.Status.GRANTED)
        .select_related("qualification_type__requester")
        .order_by("-granted_at", "-pk")
    )
    had = {one.qualification_type_id for one in granted}
    last = {one.qualification_type_id: one for one in worker.qualification_requests.order_by("pk")}
    others = tuple(
        own_qualification(wanted, last.get(wanted.pk), now) for wanted in requestable_types() if wanted.pk not in had
    )
    return OwnQualifications(granted=granted, others=others, profile=profile_of(worker, now))


def own_qualification(wanted: QualificationType, last: QualificationRequest | None, now: datetime) -> OwnQualification:
    is_open = last is not None and last.is_open(now)
    return OwnQualification(
        qualification_type=wanted,
        pending=last is not None and last.submitted_at is not None and last.decided_at is None,
        obstacle=None if is_open else obstacle_of(wanted, last, now),
        open_request=last if is_open else None,
    )
