"""The random names that this site gives to things."""

from __future__ import annotations

import secrets
import string

_ENTITY_ALPHABET = string.ascii_uppercase + string.digits
_KEY_ALPHABET = string.ascii_uppercase + "234567"
_SECRET_ALPHABET = string.ascii_letters + string.digits + "+/"


def _random(alphabet: str, length: int) -> str:
    return "".join(secrets.choice(alphabet) for _ in range(length))


def entity_id() -> str:
    """An id as MTurk's look: 30 capital letters and digits, 3 first."""
    return "3" + _random(_ENTITY_ALPHABET, 29)


def worker_id() -> str:
    """A worker's id: A and 13 capital letters and digits."""
    return "A" + _random(_ENTITY_ALPHABET, 13)


def access_key_id() -> str:
    return "AKIA" + _random(_KEY_ALPHABET, 16)


def secret_access_key() -> str:
    return _random(_SECRET_ALPHABET, 40)


def invitation_code() -> str:
    """Twelve characters in three groups; no letter or digit that is mistaken for another."""
    alphabet = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
    return "-".join(_random(alphabet, 4) for _ in range(3))
