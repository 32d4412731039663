from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def money(cents: int, currency: str) -> str:
    """120, "GBP": "GBP 1.20" (practice money has no sign)."""
    return f"{currency} {'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02}"
