"""The marketplace's facts. States are not stored: they follow from these times and the clock (`states`)."""

from __future__ import annotations

from humanexp.sites.marketplace.models.accounts import (
    Account,
    Deposit,
    Invitation,
    Payout,
    Requester,
    RequesterKey,
    Worker,
)
from humanexp.sites.marketplace.models.assignments import Assignment, BonusPayment, UploadedFile
from humanexp.sites.marketplace.models.hits import HIT, HITType
from humanexp.sites.marketplace.models.notifications import Event, NotificationSpecification, Transport
from humanexp.sites.marketplace.models.qualifications import (
    Qualification,
    QualificationRequest,
    QualificationType,
    WorkerBlock,
)
from humanexp.sites.marketplace.models.requests import ClockOffset, Inquiry, Message, RequestToken

__all__ = [
    "HIT",
    "Account",
    "Assignment",
    "BonusPayment",
    "ClockOffset",
    "Deposit",
    "Event",
    "HITType",
    "Inquiry",
    "Invitation",
    "Message",
    "NotificationSpecification",
    "Payout",
    "Qualification",
    "QualificationRequest",
    "QualificationType",
    "RequestToken",
    "Requester",
    "RequesterKey",
    "Transport",
    "UploadedFile",
    "Worker",
    "WorkerBlock",
]
