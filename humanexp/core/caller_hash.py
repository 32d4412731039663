"""Who calls, as far as it may be kept: never an address, only a hash with a salt of the day."""

from __future__ import annotations

import secrets
from datetime import date

from django.conf import settings
from django.http import HttpRequest

from humanexp.addresses import caller_behind
from humanexp.common_memory import DAY, MEMORY, SALT
from humanexp.core import clock
from humanexp.core.keys import pseudonym


def caller_of(request: HttpRequest) -> str:
    """The same for the same address on the same day at one server; otherwise nobody can tell."""
    return pseudonym(_salt_of(clock.now().date()), caller_behind(_address(request)), prefix="A")


def _address(request: HttpRequest) -> str:
    """The address that the server saw; behind trusted proxies (TRUST_PROXY_HEADER), the one that the first of them saw.

    Each proxy appends whom it saw: of N proxies in a row (TRUSTED_PROXIES), the N-th address from the end is the first
    one's. Whatever stands before it was written by the caller, and is not believed.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    if getattr(settings, "SECURE_PROXY_SSL_HEADER", None):
        seen = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")[-settings.TRUSTED_PROXIES :]
        return seen[0].strip() or address
    return address


def _salt_of(today: date) -> str:
    """In memory alone: when the day or the server is over, nobody can try addresses against the hashes that were kept.

    Processes that begin a day together agree within the moment: each reads what was written last.
    """
    day = today.toordinal().to_bytes(8, "big")
    if MEMORY[DAY] != day:
        MEMORY[SALT] = secrets.token_bytes(32)
        MEMORY[DAY] = day
    return MEMORY[SALT].hex()
