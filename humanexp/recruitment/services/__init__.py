"""Writes of recruitment: launch, enter, poll, pay, send, reconcile, stop, delete."""

from __future__ import annotations

from humanexp.recruitment.services.accounts import open_account
from humanexp.recruitment.services.approving import renew_approval, withdraw_approval
from humanexp.recruitment.services.budgeting import raise_cap, set_month_cap, set_study_cap
from humanexp.recruitment.services.compensating import compensate
from humanexp.recruitment.services.deleting import delete_participant
from humanexp.recruitment.services.entering import enter, new_handoff
from humanexp.recruitment.services.extending import Extension, extend, prolong, quote_extension, stop, stop_campaign
from humanexp.recruitment.services.hits import retry_hit, try_stops_again
from humanexp.recruitment.services.notifying import notify
from humanexp.recruitment.services.outbox import try_keys_again
from humanexp.recruitment.services.people import ExclusionReport, exclude_family, exclude_people, lift_exclusion
from humanexp.recruitment.services.publishing import LaunchTerms, compare_sizes, publish, quote
from humanexp.recruitment.services.reconciling import reconcile
from humanexp.recruitment.services.rejecting import agree_to_rejection, decline_rejection, reject, set_review_policy
from humanexp.recruitment.services.resolving import resolve_difference
from humanexp.recruitment.services.resuming import confirm, is_confirmed
from humanexp.recruitment.services.sending import send
from humanexp.recruitment.services.settling import (
    clear,
    override_rejection,
    plan_bonus,
    reward_fee_cents,
    settle,
    top_up,
    try_again,
)
from humanexp.recruitment.services.synchronising import finish_link, listen, refresh_balance, sync
from humanexp.recruitment.services.ways_back import address_of, follow, make_personal_link, release, revoke

__all__ = [
    "ExclusionReport",
    "Extension",
    "LaunchTerms",
    "address_of",
    "agree_to_rejection",
    "clear",
    "compare_sizes",
    "compensate",
    "confirm",
    "decline_rejection",
    "delete_participant",
    "enter",
    "exclude_family",
    "exclude_people",
    "extend",
    "finish_link",
    "follow",
    "is_confirmed",
    "lift_exclusion",
    "listen",
    "make_personal_link",
    "new_handoff",
    "notify",
    "open_account",
    "override_rejection",
    "plan_bonus",
    "prolong",
    "publish",
    "quote",
    "quote_extension",
    "raise_cap",
    "reconcile",
    "refresh_balance",
    "reject",
    "release",
    "renew_approval",
    "resolve_difference",
    "retry_hit",
    "revoke",
    "reward_fee_cents",
    "send",
    "set_month_cap",
    "set_review_policy",
    "set_study_cap",
    "settle",
    "stop",
    "stop_campaign",
    "sync",
    "top_up",
    "try_again",
    "try_keys_again",
    "try_stops_again",
    "withdraw_approval",
]
