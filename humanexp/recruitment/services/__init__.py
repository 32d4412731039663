"""Writes of recruitment: launch, enter, poll, pay, send, reconcile, stop, delete."""

from __future__ import annotations

from humanexp.recruitment.services.deleting import delete_participant
from humanexp.recruitment.services.entering import enter, new_handoff
from humanexp.recruitment.services.publishing import publish, quote
from humanexp.recruitment.services.reconciling import reconcile
from humanexp.recruitment.services.sending import send
from humanexp.recruitment.services.settling import (
    clear,
    override_rejection,
    plan_bonus,
    reject,
    reward_fee_cents,
    settle,
    try_again,
)
from humanexp.recruitment.services.stopping import stop, stop_campaign
from humanexp.recruitment.services.synchronising import finish_link, refresh_balance, sync

__all__ = [
    "clear",
    "delete_participant",
    "enter",
    "finish_link",
    "new_handoff",
    "override_rejection",
    "plan_bonus",
    "publish",
    "quote",
    "reconcile",
    "refresh_balance",
    "reject",
    "reward_fee_cents",
    "send",
    "settle",
    "stop",
    "stop_campaign",
    "sync",
    "try_again",
]
