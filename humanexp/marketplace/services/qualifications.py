"""Making qualification types, granting and revoking; messages to workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from humanexp.marketplace.errors import (
    InvalidQualificationState,
    InvalidQualificationTypeState,
    PermissionDenied,
    QualificationTypeAlreadyExists,
    WorkerDoesNotExist,
)
from humanexp.marketplace.models import Message, Qualification, QualificationType, Requester, Worker
from humanexp.marketplace.selectors.accounts import is_known_to, worker_by_id


@dataclass(frozen=True, kw_only=True)
class UndeliveredMessage:
    worker_id: str
    reason: str


@transaction.atomic
def create_type(
    *,
    requester: Requester,
    name: str,
    description: str,
    status: str,
    keywords: str = "",
    retry_delay_seconds: int | None = None,
    is_auto_granted: bool = False,
    auto_granted_value: int | None = None,
    now: datetime,
) -> QualificationType:
    if requester.qualification_types.filter(name=name).exists():
        raise QualificationTypeAlreadyExists
    return QualificationType.objects.create(
        requester=requester,
        name=name,
        description=description,
        status=status,
        keywords=keywords,
        retry_delay_seconds=retry_delay_seconds,
        is_auto_granted=is_auto_granted,
        auto_granted_value=auto_granted_value,
        created_at=now,
    )


def require_owner(*, requester: Requester, owned: QualificationType) -> None:
    if owned.requester_id != requester.pk:
        raise PermissionDenied("You do not own this QualificationType.")


@transaction.atomic
def grant(*, owned: QualificationType, worker_id: str, value: int, notify: bool, now: datetime) -> Qualification:
    """Twice equals once; another value replaces the first."""
    if owned.status != QualificationType.Status.ACTIVE:
        raise InvalidQualificationTypeState
    worker = worker_by_id(worker_id)
    qualification, is_new = Qualification.objects.get_or_create(
        qualification_type=owned,
        worker=worker,
        defaults={"value": value, "status": Qualification.Status.GRANTED, "granted_at": now},
    )
    was_granted = not is_new and qualification.status == Qualification.Status.GRANTED
    if not is_new and (not was_granted or qualification.value != value):
        qualification.granted_at = qualification.granted_at if was_granted else now
        qualification.value, qualification.status = value, Qualification.Status.GRANTED
        qualification.save(update_fields=["value", "status", "granted_at"])
    if notify and not was_granted:
        text = f"You now have the qualification “{owned.name}”. {owned.description}"
        send_message(sender=owned.requester, worker=worker, subject="A new qualification", text=text, now=now)
    return qualification


@transaction.atomic
def revoke(*, owned: QualificationType, worker_id: str, reason: str, now: datetime) -> Qualification:
    """The row stays, as revoked; the worker reads the reason."""
    worker = worker_by_id(worker_id)
    qualification = owned.qualifications.filter(worker=worker, status=Qualification.Status.GRANTED).first()
    if qualification is None:
        raise InvalidQualificationState("This worker does not have this qualification, so it cannot be taken away.")
    qualification.status = Qualification.Status.REVOKED
    qualification.save(update_fields=["status"])
    text = f"You no longer have the qualification “{owned.name}”. {reason}".strip()
    send_message(sender=owned.requester, worker=worker, subject="A qualification has ended", text=text, now=now)
    return qualification


@transaction.atomic
def notify_workers(
    *, requester: Requester, subject: str, text: str, worker_ids: Sequence[str], now: datetime
) -> list[UndeliveredMessage]:
    """Only workers whose work this requester has judged get it; the others are named in the answer."""
    undelivered = []
    for worker_id in dict.fromkeys(worker_ids):
        try:
            worker = worker_by_id(worker_id)
        except WorkerDoesNotExist as err:
            undelivered.append(UndeliveredMessage(worker_id=worker_id, reason=err.message))
            continue
        if not is_known_to(requester, worker, now):
            reason = "You have not approved or rejected work of this worker."
            undelivered.append(UndeliveredMessage(worker_id=worker_id, reason=reason))
            continue
        send_message(sender=requester, worker=worker, subject=subject, text=text, now=now)
    return undelivered


def send_message(*, sender: Requester, worker: Worker, subject: str, text: str, now: datetime) -> Message:
    return Message.objects.create(worker=worker, sender=sender, subject=subject, text=text, sent_at=now)
