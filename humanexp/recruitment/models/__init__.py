"""Facts of recruitment: people, campaigns, HITs, assignments, and everything that was sent to a recruiter."""

from __future__ import annotations

from humanexp.recruitment.models.campaigns import Assignment, Campaign, Evidence, Hit
from humanexp.recruitment.models.people import WORKER_NAMESPACE, Environment, RecruitedPerson
from humanexp.recruitment.models.writes import (
    HitWrite,
    HitWriteKind,
    Pause,
    Payment,
    PaymentKind,
    RecruiterWrite,
    Rejection,
    SenderLease,
)

__all__ = [
    "WORKER_NAMESPACE",
    "Assignment",
    "Campaign",
    "Environment",
    "Evidence",
    "Hit",
    "HitWrite",
    "HitWriteKind",
    "Pause",
    "Payment",
    "PaymentKind",
    "RecruitedPerson",
    "RecruiterWrite",
    "Rejection",
    "SenderLease",
]
