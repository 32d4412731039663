"""Writes of recruitment: launch, enter, poll, pay, send, reconcile, stop, delete."""

from __future__ import annotations

from humanexp.recruitment.services.accounts import (
    TRY_JOB,
    open_account,
    pause_account,
    rename_account,
    request_try,
    resume_account,
    store_keys,
    try_account,
)
from humanexp.recruitment.services.approving import renew_approval, withdraw_approval
from humanexp.recruitment.services.batches import continue_batches, open_batches
from humanexp.recruitment.services.bonuses import (
    BonusList,
    bonuses_again,
    campaign_without_room,
    can_get_bonus,
    first_bonus_hold,
    pay_bonuses,
    read_bonuses,
)
from humanexp.recruitment.services.budgeting import raise_cap, set_month_cap, set_study_cap
from humanexp.recruitment.services.checking import (
    CheckReport,
    begin_check,
    continue_check,
    price_of_check,
    stop_check,
)
from humanexp.recruitment.services.compensating import compensate, note_paid_by_hand
from humanexp.recruitment.services.counting import foresee_restoring, treat_as_restored
from humanexp.recruitment.services.deleting import delete_participant, take_personal_data
from humanexp.recruitment.services.deletion_codes import code_for, delete_by_code
from humanexp.recruitment.services.entering import enter, new_handoff
from humanexp.recruitment.services.extending import Extension, extend, prolong, quote_extension, stop, stop_campaign
from humanexp.recruitment.services.forgetting import forget_by_policies, forget_ids
from humanexp.recruitment.services.hearing import hear
from humanexp.recruitment.services.hits import retry_hit, try_stops_again
from humanexp.recruitment.services.id_lists import ids_of
from humanexp.recruitment.services.launchers import may_launch_on, set_launchers
from humanexp.recruitment.services.links import way_out_of
from humanexp.recruitment.services.notifying import notify
from humanexp.recruitment.services.outbox import try_keys_again
from humanexp.recruitment.services.parked import found_paid, look_again, pay_again
from humanexp.recruitment.services.pausing import pause_campaign, reopen_campaign, resume_campaign
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
    pay_first_late,
    plan_bonus,
    reward_fee_cents,
    settle,
    settle_by_policies,
    try_again,
)
from humanexp.recruitment.services.standing import verify_begun
from humanexp.recruitment.services.synchronising import finish_link, listen, refresh_balance, sync
from humanexp.recruitment.services.telling import list_credited, list_finished, look_up
from humanexp.recruitment.services.topping_up import top_up, top_up_campaign
from humanexp.recruitment.services.turning_away import decline, outcome_of_refusal, turn_away
from humanexp.recruitment.services.watching import watch
from humanexp.recruitment.services.ways_back import address_of, follow, make_personal_link, release, revoke

__all__ = [
    "BonusList",
    "bonuses_again",
    "campaign_without_room",
    "can_get_bonus",
    "first_bonus_hold",
    "pay_bonuses",
    "read_bonuses",
    "foresee_restoring",
    "treat_as_restored",
    "CheckReport",
    "begin_check",
    "continue_check",
    "price_of_check",
    "stop_check",
    "continue_batches",
    "open_batches",
    "pause_campaign",
    "reopen_campaign",
    "resume_campaign",
    "TRY_JOB",
    "try_account",
    "store_keys",
    "resume_account",
    "request_try",
    "rename_account",
    "pause_account",
    "verify_begun",
    "code_for",
    "delete_by_code",
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
    "decline",
    "delete_participant",
    "enter",
    "exclude_family",
    "exclude_people",
    "ids_of",
    "extend",
    "finish_link",
    "follow",
    "forget_by_policies",
    "forget_ids",
    "hear",
    "found_paid",
    "is_confirmed",
    "lift_exclusion",
    "list_credited",
    "list_finished",
    "listen",
    "look_again",
    "look_up",
    "make_personal_link",
    "new_handoff",
    "note_paid_by_hand",
    "notify",
    "may_launch_on",
    "open_account",
    "outcome_of_refusal",
    "override_rejection",
    "pay_again",
    "pay_first_late",
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
    "set_launchers",
    "set_month_cap",
    "set_review_policy",
    "set_study_cap",
    "settle",
    "settle_by_policies",
    "stop",
    "stop_campaign",
    "sync",
    "take_personal_data",
    "top_up",
    "top_up_campaign",
    "try_again",
    "try_keys_again",
    "try_stops_again",
    "turn_away",
    "watch",
    "way_out_of",
    "withdraw_approval",
]
