from __future__ import annotations

from django import template
from django.utils.translation import ngettext

from humanexp.sites.marketplace.money import cents_to_dollars

register = template.Library()


@register.filter
def dollars(cents: int) -> str:
    return f"${cents_to_dollars(cents)}"


@register.filter
def duration(seconds: int) -> str:
    """The two largest units: 1 h 30 min, 45 s, 3 days."""
    days, rest = divmod(int(seconds), 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, seconds = divmod(rest, 60)
    parts = [
        ngettext("%(n)d day", "%(n)d days", days) % {"n": days} if days else "",
        f"{hours} h" if hours else "",
        f"{minutes} min" if minutes else "",
        f"{seconds} s" if seconds else "",
    ]
    return " ".join([part for part in parts if part][:2]) or "0 s"
