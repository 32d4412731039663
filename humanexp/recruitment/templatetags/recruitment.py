"""Filters of recruitment's pages: `{% load recruitment %}`."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from humanexp.recruiters import money, registry
from humanexp.recruiters.models import Campaign
from humanexp.studies.facts import StudyFacts

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


@register.filter(name="money")
def money_shown(cents: int | None, currency: str) -> str:
    """Minor units of this currency with its sign and a comma between thousands; an en dash where there is no sum."""
    return "–" if cents is None else money.shown(cents, currency)


@register.filter
def sums(amounts: Mapping[str, int]) -> str:
    """Sums of several currencies, which are never added up."""
    return money.listed(amounts)


@register.filter
def recruiter_name(environment: str) -> str:
    """What people call it."""
    return registry.name_of(environment)


@register.filter
def id_name(environment: str) -> str:
    """How the id is called by which it knows a person."""
    return registry.kind_of(environment).id_name


@register.filter
def reward(terms: StudyFacts | Campaign) -> str:
    """Pay as a participant reads it, in the words and with the decimal sign of the page's language."""
    amount = {"amount": number_format(money.decimal(terms.reward_cents), decimal_pos=2)}
    match terms.currency:
        case "USD":
            return _("$%(amount)s") % amount
        case "GBP":
            return _("£%(amount)s") % amount
        case "EUR":
            return _("€%(amount)s") % amount
    return money.shown(terms.reward_cents, terms.currency)


@register.filter
def typed(cents: int | None) -> str:
    """Minor units as somebody would type them into a field; nothing where there are none."""
    return "" if cents is None else money.decimal(cents)


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
