"""Names that people give to what they make, by which pages and commands find it; codes for people and sessions."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from typing import Any

from django import forms
from django.core.validators import validate_slug

from humanexp.core.errors import InvalidRequest

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


#: Letters of a name unless said otherwise.
LONGEST = 80


class NameField(forms.SlugField):
    """A name in a form; what is wrong with one is said without the word slug."""

    def __init__(self, **options: Any) -> None:
        told = {
            "label": "Name",
            "max_length": LONGEST,
            "help_text": "Letters, digits, hyphens and underscores; used in commands.",
            "error_messages": {"invalid": "Use letters, digits, hyphens and underscores, without spaces."},
        }
        super().__init__(**{**told, **options})


def check_new_name(
    name: str, *, taken: bool, what: str, longest: int = LONGEST, reserved: Collection[str] = ()
) -> None:
    """A name is a slug that nothing of its kind has, and no page's own address."""
    if not re.fullmatch(validate_slug.regex, name) or len(name) > longest:
        raise InvalidRequest(
            f"{name!r} cannot be a name: use up to {longest} letters, digits, hyphens and underscores.",
            fields={"name": "letters, digits, hyphens and underscores"},
        )
    if name in reserved:
        raise InvalidRequest(f"{name!r} cannot be a name: choose another.", fields={"name": "choose another name"})
    if taken:
        raise InvalidRequest(
            f"There is already a {what} named {name!r}: choose another name.", fields={"name": "this name is taken"}
        )
