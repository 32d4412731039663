"""The marketplace's facts. States are not stored: they follow from these times and the clock (`states`)."""

from __future__ import annotations

from humanexp.marketplace.models.accounts import Account, Deposit, Requester, RequesterKey, Worker
from humanexp.marketplace.models.assignments import Assignment, BonusPayment
from humanexp.marketplace.models.hits import HIT, HITType
from humanexp.marketplace.models.qualifications import Qualification, QualificationType
from humanexp.marketplace.models.requests import ClockOffset, Message, RequestToken

__all__ = [
    "HIT",
    "Account",
    "Assignment",
    "BonusPayment",
    "ClockOffset",
    "Deposit",
    "HITType",
    "Message",
    "Qualification",
    "QualificationType",
    "RequestToken",
    "Requester",
    "RequesterKey",
    "Worker",
]
