"""Names that people give to what they make; pages and commands find it by them."""

from __future__ import annotations

import re
from collections.abc import Collection

from django.core.validators import validate_slug

from humanexp.core.errors import InvalidRequest


def check_new_name(name: str, *, taken: bool, what: str, longest: int = 80, reserved: Collection[str] = ()) -> None:
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
