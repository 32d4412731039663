"""Filters of recruitment's pages: `{% load recruitment %}`."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.utils.formats import number_format

from humanexp.recruitment import money, recruiters

register = template.Library()

_TONES = {
    "live": "good",
    "open": "good",
    "confirmed": "good",
    "approved": "good",
    "stopping": "warn",
    "sending": "warn",
    "parked": "warn",
    "submitted": "warn",
    "refused": "bad",
    "rejected": "bad",
}


@register.filter
def dollars(cents: int | None) -> str:
    """Integer cents as dollars with the sign of the currency and a comma between thousands."""
    if cents is None:
        return "–"
    sign = "−" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02d}"


@register.filter
def recruiter_name(environment: str) -> str:
    """What people call it."""
    return recruiters.name_of(environment)


@register.filter
def amount(cents: int) -> str:
    """Integer cents as a plain number, with the decimal sign of the page's language."""
    return number_format(money.dollars(cents), decimal_pos=2)


@register.filter
def typed(cents: int | None) -> str:
    """Integer cents as somebody would type them into a field; nothing where there are none."""
    return "" if cents is None else money.dollars(cents)


@register.filter
def at(counts: Mapping[str, int], name: str) -> int | None:
    """The entry of that name."""
    return counts.get(str(name))


@register.filter
def tone(state: str) -> str:
    """The colour of a state of recruitment."""
    return _TONES.get(str(state), "plain")


@register.filter
def unlocalized(number: float) -> str:
    """A number for an attribute: a point, whatever the language."""
    return f"{number:g}"


@register.filter
def age(seconds: float) -> str:
    """A span of time in its largest unit."""
    for length, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds / length:.0f} {name}"
    return f"{seconds:.0f} s"
