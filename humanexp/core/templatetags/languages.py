"""The switch of languages: `{% load languages %}{% language_switch %}`."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import Context

from humanexp.core.languages import other_languages

register = template.Library()


@register.inclusion_tag("_languages.html", takes_context=True)
def language_switch(context: Context) -> dict[str, Any]:
    """A link for every language but the page's own."""
    return {"languages": other_languages(context["request"])}
