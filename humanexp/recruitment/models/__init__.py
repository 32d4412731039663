"""Facts of recruitment: people, campaigns, HITs, assignments, and everything that was sent to a recruiter."""

from __future__ import annotations

from humanexp.recruitment.models.accounts import Pause, RecruiterAccount, RejectionProposal, ReviewPolicy, StudyBudget
from humanexp.recruitment.models.agreeing import AgreedText, ApprovalChange
from humanexp.recruitment.models.calls import (
    EXTRAS,
    MARKS,
    MONEY,
    OFFERS,
    ONCE,
    PLACES,
    Answer,
    Call,
    CallKind,
    Payment,
)
from humanexp.recruitment.models.campaigns import Assignment, Campaign, Evidence, Hit
from humanexp.recruitment.models.deleting import DeletionCode
from humanexp.recruitment.models.differences import Difference, DifferenceKind
from humanexp.recruitment.models.hooks import HookEvent
from humanexp.recruitment.models.links import LinkTerms, OutcomeCode, SitePay
from humanexp.recruitment.models.people import VISITOR, Exclusion, RecruitedPerson, id_here
from humanexp.recruitment.models.qualifications import QualificationType
from humanexp.recruitment.models.resuming import ResumeConfirmation, WayBack, WayBackKind
from humanexp.recruitment.models.volunteering import VolunteerTerms
from humanexp.recruitment.models.watching import CampaignHold, CampaignTopUp, HoldReason, PlaceBatch

__all__ = [
    "MARKS",
    "MONEY",
    "OFFERS",
    "ONCE",
    "PLACES",
    "Answer",
    "Call",
    "CallKind",
    "EXTRAS",
    "VISITOR",
    "AgreedText",
    "ApprovalChange",
    "Assignment",
    "Campaign",
    "CampaignHold",
    "CampaignTopUp",
    "DeletionCode",
    "Difference",
    "DifferenceKind",
    "Evidence",
    "Exclusion",
    "Hit",
    "HoldReason",
    "HookEvent",
    "LinkTerms",
    "OutcomeCode",
    "Pause",
    "Payment",
    "PlaceBatch",
    "QualificationType",
    "RecruitedPerson",
    "RejectionProposal",
    "ResumeConfirmation",
    "ReviewPolicy",
    "RecruiterAccount",
    "SitePay",
    "StudyBudget",
    "VolunteerTerms",
    "WayBack",
    "WayBackKind",
    "id_here",
]
