"""Keys that are made on the first run and kept in files only their owner can read."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path


def read_key(path: Path) -> str | None:
    """The key stored at `path`, if there is one."""
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None


def read_or_create_key(path: Path) -> str:
    """The key stored at `path`; made with mode 0600 when it is not there. Safe when two processes start at once."""
    if (key := read_key(path)) is not None:
        return key
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(secrets.token_urlsafe(48))
    try:
        os.link(fresh, path)  # fails if another process was first: then its key is the key
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return path.read_text(encoding="ascii").strip()


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
