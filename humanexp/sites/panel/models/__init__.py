"""The panel's tables."""

from __future__ import annotations

from humanexp.sites.panel.models.hooks import Event, HookSecret, Subscription
from humanexp.sites.panel.models.money import BonusPlan, Payment
from humanexp.sites.panel.models.people import (
    Deposit,
    Membership,
    Message,
    Participant,
    ParticipantGroup,
    Project,
    Researcher,
    Workspace,
)
from humanexp.sites.panel.models.studies import Study, Submission
from humanexp.sites.panel.models.switches import Switches

__all__ = [
    "BonusPlan",
    "Deposit",
    "Event",
    "HookSecret",
    "Membership",
    "Message",
    "Participant",
    "ParticipantGroup",
    "Payment",
    "Project",
    "Researcher",
    "Study",
    "Submission",
    "Subscription",
    "Switches",
    "Workspace",
]
