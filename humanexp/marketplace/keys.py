"""The site's secret key, and the random names it gives to things."""

from __future__ import annotations

import contextlib
import os
import secrets
import string
from pathlib import Path

_ENTITY_ALPHABET = string.ascii_uppercase + string.digits
_KEY_ALPHABET = string.ascii_uppercase + "234567"
_SECRET_ALPHABET = string.ascii_letters + string.digits + "+/"


def read_or_create_key(path: Path) -> str:
    """The key stored at `path`; made with mode 0600 when absent. Safe when two processes start at once."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_text(encoding="ascii").strip()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as stream:
        stream.write(secrets.token_urlsafe(48))
    try:
        with contextlib.suppress(FileExistsError):  # another process was first: its key is the key
            os.link(fresh, path)
    finally:
        fresh.unlink()
    return path.read_text(encoding="ascii").strip()


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
