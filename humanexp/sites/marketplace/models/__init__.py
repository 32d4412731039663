"""The marketplace's facts. States are not stored: they follow from these times and the clock (`states`)."""

from __future__ import annotations

from humanexp.sites.marketplace.models.people import (
    Account,
    ClockOffset,
    Deposit,
    Inquiry,
    Invitation,
    Message,
    Payout,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    RequesterKey,
    RequestToken,
    Worker,
    WorkerBlock,
)
from humanexp.sites.marketplace.models.work import (
    HIT,
    Assignment,
    BonusPayment,
    Event,
    HITType,
    NotificationSpecification,
    Transport,
    UploadedFile,
)

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
