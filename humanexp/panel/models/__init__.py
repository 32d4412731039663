"""The panel's tables."""

from __future__ import annotations

from humanexp.panel.models.hooks import Event, HookSecret, Subscription
from humanexp.panel.models.money import BonusPlan, Payment
from humanexp.panel.models.people import (
    Deposit,
    Membership,
    Message,
    Participant,
    ParticipantGroup,
    Project,
    Researcher,
    Workspace,
)
from humanexp.panel.models.studies import Study, Submission
from humanexp.panel.models.switches import Switches

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
