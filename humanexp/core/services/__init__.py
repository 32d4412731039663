"""Writes of accounts: making, inviting, closing, passwords, sessions."""

from __future__ import annotations

from humanexp.core.services.accounts import (
    VALID_DAYS,
    account_of_link,
    entry_link,
    invite,
    make_account,
    password_link,
    reset_second_factor,
    send_entry_link,
    send_password_links,
    set_active,
    set_address,
    set_house_role,
    set_password,
)
from humanexp.core.services.organisation import account_of as account_of_person, link as link_person
from humanexp.core.services.signing_in import end_sessions, record_attempt, record_sign_in

__all__ = [
    "VALID_DAYS",
    "account_of_link",
    "account_of_person",
    "end_sessions",
    "entry_link",
    "invite",
    "link_person",
    "make_account",
    "password_link",
    "record_attempt",
    "record_sign_in",
    "reset_second_factor",
    "send_entry_link",
    "send_password_links",
    "set_active",
    "set_address",
    "set_house_role",
    "set_password",
]
