"""Codes for people and sessions."""

from __future__ import annotations

import hashlib
import hmac
import secrets

#: No I, L, O, U, 0, 1: codes are read aloud and typed by hand.
_CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


def pseudonym(key: str, *parts: str, prefix: str = "P", length: int = 10) -> str:
    """Stable code for a person: HMAC-SHA256 of the parts under `key`, so it cannot be turned back without the key."""
    digest = hmac.new(key.encode(), "\x1f".join(parts).encode(), hashlib.sha256).digest()
    number = int.from_bytes(digest, "big")
    letters = []
    for _ in range(length):
        number, rest = divmod(number, len(_CODE_ALPHABET))
        letters.append(_CODE_ALPHABET[rest])
    return f"{prefix}-{''.join(letters)}"


def random_code(prefix: str, length: int = 10) -> str:
    """A code that tells nothing, for sessions and entries."""
    return f"{prefix}-{''.join(secrets.choice(_CODE_ALPHABET) for _ in range(length))}"
