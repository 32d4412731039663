"""Tags of notices: `{% load notices %}`."""

from __future__ import annotations

from django import template

from humanexp.core.models import User
from humanexp.notices.selectors import waiting_count

register = template.Library()


@register.simple_tag
def needs_you(user: User) -> int:
    """How much waits that this person can solve."""
    return waiting_count(user)
