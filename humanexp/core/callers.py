"""Who calls, as far as it may be kept: never an address, only a hash with a salt of the day."""

from __future__ import annotations

import secrets
from datetime import date
from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

from humanexp.core import clock
from humanexp.core.keys import pseudonym

#: In memory alone: when the day or the process is over, nobody can try addresses against the hashes that were kept.
_salt: tuple[date | None, str] = (None, "")


def caller_of(request: HttpRequest) -> str:
    """The same for the same address on the same day in one process; otherwise nobody can tell."""
    return pseudonym(_salt_of(clock.now().date()), _network(_address(request)), prefix="A")


def _address(request: HttpRequest) -> str:
    """The address that the server saw; behind a trusted proxy (TRUST_PROXY_HEADER), the one that the proxy saw.

    A proxy appends what it saw: whatever stands before the last comma was written by the caller, and is not believed.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    if getattr(settings, "SECURE_PROXY_SSL_HEADER", None):
        return str(request.META.get("HTTP_X_FORWARDED_FOR", "")).rpartition(",")[2].strip() or address
    return address


def _network(address: str) -> str:
    """An IPv6 caller holds a whole network of 2^64 addresses: they count as one."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((known, 64), strict=False)) if isinstance(known, IPv6Address) else str(known)


def _salt_of(today: date) -> str:
    global _salt
    if _salt[0] != today:
        _salt = (today, secrets.token_hex(16))
    return _salt[1]
