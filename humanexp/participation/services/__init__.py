"""What can be done to sessions; every function takes keywords and is atomic."""

from __future__ import annotations

from humanexp.participation.services.answering import StoredAnswer, complete, store_response, take_lease
from humanexp.participation.services.closing import (
    Closing,
    clear_text,
    closing_of,
    open_questions,
    store_closing_answers,
)
from humanexp.participation.services.leaving import erase_withdrawn, leave_session, take_back, undo_withdrawal
from humanexp.participation.services.own_curves import make_card, promise_curve, take_card_back
from humanexp.participation.services.places import release_slot, set_aside, tie_rivals, verify_session
from humanexp.participation.services.sessions import (
    Agreement,
    Exchanged,
    SentBy,
    exchange_handoff,
    issue_handoff,
    issue_token,
    keep_working_times,
    look_behind,
    mark_submitted,
    note_deadline,
    open_session,
    participant_for,
    receipt_for,
    receipt_is_valid,
    revoke_tokens,
    scripted_participant,
    withdraw_session,
)
from humanexp.participation.services.setting_up import store_set_up

__all__ = [
    "Agreement",
    "Closing",
    "Exchanged",
    "SentBy",
    "StoredAnswer",
    "clear_text",
    "closing_of",
    "complete",
    "erase_withdrawn",
    "exchange_handoff",
    "issue_handoff",
    "issue_token",
    "note_deadline",
    "keep_working_times",
    "leave_session",
    "look_behind",
    "make_card",
    "mark_submitted",
    "open_questions",
    "open_session",
    "participant_for",
    "promise_curve",
    "receipt_for",
    "receipt_is_valid",
    "release_slot",
    "set_aside",
    "tie_rivals",
    "revoke_tokens",
    "scripted_participant",
    "store_closing_answers",
    "store_response",
    "store_set_up",
    "take_back",
    "take_card_back",
    "take_lease",
    "undo_withdrawal",
    "verify_session",
    "withdraw_session",
]
