"""Addresses of the site, for tests that ask all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

#: Something for every parameter of an address.
VALUES = {"int": "1", "slug": "none", "str": "none"}


def addresses() -> list[str]:
    """One for every pattern of the site that is not a bare expression."""

    def walk(patterns: list[Any], prefix: str) -> Iterator[str]:
        for one in patterns:
            route = prefix + str(one.pattern)
            if isinstance(one, URLResolver):
                yield from walk(one.url_patterns, route)
            elif isinstance(one, URLPattern) and "(?P<" not in route:
                yield f"/{route}"

    found = []
    for route in walk(get_resolver().url_patterns, ""):
        for kind, value in VALUES.items():
            while f"<{kind}:" in route:
                before, _, rest = route.partition(f"<{kind}:")
                route = before + value + rest.partition(">")[2]
        found.append(route)
    return sorted(set(found))
