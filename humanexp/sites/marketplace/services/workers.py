"""Between requesters and workers: letters, messages, and whom a requester gives no work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from humanexp.sites.marketplace.errors import TooManyInquiries, WorkerDoesNotExist
from humanexp.sites.marketplace.models.accounts import Requester, Worker
from humanexp.sites.marketplace.models.hits import HITType
from humanexp.sites.marketplace.models.qualifications import WorkerBlock
from humanexp.sites.marketplace.models.requests import Inquiry, Message
from humanexp.sites.marketplace.selectors.accounts import is_known_to, worker_by_id
from humanexp.sites.rows import change

#: Of one worker, in a day.
_DAILY = 20


@transaction.atomic
def ask_requester(*, worker: Worker, hit_type: HITType, subject: str, text: str, now: datetime) -> Inquiry:
    if worker.inquiries.filter(sent_at__gt=now - timedelta(days=1)).count() >= _DAILY:
        raise TooManyInquiries
    return Inquiry.objects.create(
        requester=hit_type.requester, worker=worker, hit_type=hit_type, subject=subject, text=text, sent_at=now
    )


@transaction.atomic
def answer(*, inquiry: Inquiry, text: str, now: datetime) -> Message:
    """Lands on the worker's messages page."""
    change(inquiry, answered_at=now)
    subject = f"Re: {inquiry.subject}"[:250]
    return send_message(sender=inquiry.requester, worker=inquiry.worker, subject=subject, text=text, now=now)


@transaction.atomic
def notify_workers(
    *, requester: Requester, subject: str, text: str, worker_ids: Sequence[str], now: datetime
) -> dict[str, str]:
    """Only workers whose work this requester has judged get it; why the others do not, by worker id."""
    undelivered = {}
    for worker_id in dict.fromkeys(worker_ids):
        try:
            worker = worker_by_id(worker_id)
        except WorkerDoesNotExist as err:
            undelivered[worker_id] = err.message
            continue
        if not is_known_to(requester, worker, now):
            undelivered[worker_id] = "You have not approved or rejected work of this worker."
            continue
        send_message(sender=requester, worker=worker, subject=subject, text=text, now=now)
    return undelivered


def send_message(*, sender: Requester, worker: Worker, subject: str, text: str, now: datetime) -> Message:
    return Message.objects.create(worker=worker, sender=sender, subject=subject, text=text, sent_at=now)


@transaction.atomic
def block(*, requester: Requester, worker_id: str, reason: str, now: datetime) -> WorkerBlock:
    """Twice equals once; the later reason stands."""
    made, _ = WorkerBlock.objects.update_or_create(
        requester=requester,
        worker=worker_by_id(worker_id),
        defaults={"reason": reason},
        create_defaults={"reason": reason, "blocked_at": now},
    )
    return made


@transaction.atomic
def unblock(*, requester: Requester, worker_id: str) -> None:
    """A worker who was not blocked is not blocked afterwards."""
    requester.worker_blocks.filter(worker=worker_by_id(worker_id)).delete()
