"""What the reader of a page may do: `{% load access %}{% may "pay" study as can_pay %}{% if can_pay %}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from humanexp.studies.models import MAY, Action, Study
from humanexp.studies.permissions import role_of

register = template.Library()


@register.simple_tag(takes_context=True)
def may(context: Mapping[str, Any], action: str, study: Study) -> bool:
    """Whether the reader's role in the study allows an action; asked once a page."""
    request = context.get("request")
    if request is None:
        return False
    known: dict[int, Any] = request.__dict__.setdefault("_roles", {})
    if study.pk not in known:
        known[study.pk] = role_of(request.user, study)
    return known[study.pk] in MAY[Action(action)]
