"""Names that people give to what they make; pages and commands find it by them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from django import forms
from django.core.validators import validate_slug

from humanexp.core.errors import InvalidRequest

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
