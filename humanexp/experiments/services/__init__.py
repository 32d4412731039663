"""What can be done to studies and sessions; every function takes keywords and is atomic."""

from __future__ import annotations

from humanexp.experiments.services.answering import StoredAnswer, complete, store_response, take_lease
from humanexp.experiments.services.leaving import erase_withdrawn, leave_session, undo_withdrawal
from humanexp.experiments.services.measuring import keep_working_times
from humanexp.experiments.services.members import change_role, invite, remove
from humanexp.experiments.services.places import release_slot, verify_session
from humanexp.experiments.services.power import request_power, simulate_power
from humanexp.experiments.services.sessions import (
    Exchanged,
    exchange_handoff,
    issue_handoff,
    issue_token,
    look_behind,
    mark_submitted,
    open_session,
    participant_for,
    receipt_for,
    receipt_is_valid,
    revoke_tokens,
    scripted_participant,
    withdraw_session,
)
from humanexp.experiments.services.studies import (
    create_study,
    new_version,
    pause,
    revise_study,
    start_collecting,
    stop,
)

__all__ = [
    "Exchanged",
    "StoredAnswer",
    "change_role",
    "complete",
    "create_study",
    "erase_withdrawn",
    "exchange_handoff",
    "invite",
    "issue_handoff",
    "issue_token",
    "keep_working_times",
    "leave_session",
    "look_behind",
    "mark_submitted",
    "new_version",
    "open_session",
    "participant_for",
    "pause",
    "receipt_for",
    "receipt_is_valid",
    "release_slot",
    "remove",
    "request_power",
    "revise_study",
    "revoke_tokens",
    "scripted_participant",
    "simulate_power",
    "start_collecting",
    "stop",
    "store_response",
    "take_lease",
    "undo_withdrawal",
    "verify_session",
    "withdraw_session",
]
