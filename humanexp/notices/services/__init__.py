"""Writes of notices."""

from __future__ import annotations

from humanexp.notices.services.addresses import (
    add_address,
    follow_settings,
    mute,
    remove_address,
    send_test,
    set_pace,
    unmute,
)
from humanexp.notices.services.looking import look
from humanexp.notices.services.observing import call_while_well, look_at_certificate
from humanexp.notices.services.sending import send

__all__ = [
    "add_address",
    "call_while_well",
    "follow_settings",
    "look",
    "look_at_certificate",
    "mute",
    "remove_address",
    "send",
    "send_test",
    "set_pace",
    "unmute",
]
