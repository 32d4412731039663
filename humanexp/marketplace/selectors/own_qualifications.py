"""What a worker has, has asked for, and can ask for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from humanexp.marketplace.models import Qualification, QualificationRequest, QualificationType, Worker
from humanexp.marketplace.requirements import RATE_COUNTS_FROM, WorkerProfile
from humanexp.marketplace.selectors.qualifications import obstacle_of, profile_of, requestable_types


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
