"""Facts of recruitment: people, campaigns, HITs, assignments, and everything that was sent to a recruiter."""

from __future__ import annotations

from humanexp.recruitment.models.agreeing import AgreedText, ApprovalChange
from humanexp.recruitment.models.bonus_calls import AttemptOutcome, BonusAttempt, BonusCall, CallAnswer
from humanexp.recruitment.models.campaigns import Assignment, Campaign, Evidence, Hit
from humanexp.recruitment.models.deleting import DeletionCode
from humanexp.recruitment.models.differences import Difference, DifferenceKind
from humanexp.recruitment.models.hooks import HookEvent
from humanexp.recruitment.models.links import LinkTerms, OutcomeCode, SitePay
from humanexp.recruitment.models.people import VISITOR, Exclusion, RecruitedPerson, id_here
from humanexp.recruitment.models.qualifications import GrantKind, QualificationType, QualificationWrite
from humanexp.recruitment.models.resuming import ResumeConfirmation, WayBack, WayBackKind
from humanexp.recruitment.models.volunteering import VolunteerTerms
from humanexp.recruitment.models.watching import CampaignHold, CampaignTopUp, HoldReason, PlaceBatch
from humanexp.recruitment.models.writes import (
    EXTRAS,
    HitWrite,
    HitWriteKind,
    Message,
    Pause,
    Payment,
    PaymentKind,
    RecruiterAccount,
    RecruiterWrite,
    Rejection,
    RejectionProposal,
    ReturnRequest,
    ReviewPolicy,
    StudyBudget,
)

__all__ = [
    "EXTRAS",
    "VISITOR",
    "AgreedText",
    "ApprovalChange",
    "Assignment",
    "AttemptOutcome",
    "BonusAttempt",
    "BonusCall",
    "CallAnswer",
    "Campaign",
    "CampaignHold",
    "CampaignTopUp",
    "DeletionCode",
    "Difference",
    "DifferenceKind",
    "Evidence",
    "Exclusion",
    "GrantKind",
    "Hit",
    "HitWrite",
    "HitWriteKind",
    "HoldReason",
    "HookEvent",
    "LinkTerms",
    "Message",
    "OutcomeCode",
    "Pause",
    "Payment",
    "PaymentKind",
    "PlaceBatch",
    "QualificationType",
    "QualificationWrite",
    "RecruitedPerson",
    "RecruiterWrite",
    "Rejection",
    "RejectionProposal",
    "ResumeConfirmation",
    "ReturnRequest",
    "ReviewPolicy",
    "RecruiterAccount",
    "SitePay",
    "StudyBudget",
    "VolunteerTerms",
    "WayBack",
    "WayBackKind",
    "id_here",
]
