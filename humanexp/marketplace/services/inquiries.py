"""Workers write to requesters, and are answered."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from humanexp.marketplace.errors import TooManyInquiries
from humanexp.marketplace.models import HITType, Inquiry, Message, Worker
from humanexp.marketplace.rows import change
from humanexp.marketplace.services.qualifications import send_message

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
