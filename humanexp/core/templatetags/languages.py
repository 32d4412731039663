"""The language of a page, and the switch: `<html {% page_language %}>`, `{% language_switch %}`."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from humanexp.core.languages import language_spoken, other_languages, tag_spoken

register = template.Library()


@register.inclusion_tag("_languages.html", takes_context=True)
def language_switch(context: Context) -> dict[str, Any]:
    """A link for every language but the page's own."""
    return {"languages": other_languages(context["request"])}


@register.simple_tag
def page_language() -> SafeString:
    """Attributes of the root: the language; of a catalogue's also its direction, and the code that calls ask for."""
    spoken = language_spoken()
    if spoken is None:
        return format_html('lang="{}"', tag_spoken())
    return format_html('lang="{}" dir="{}" data-texts="{}"', spoken.tag, spoken.direction, spoken.code)


@register.simple_tag
def language_tag() -> str:
    """The language of the page, as an address names it."""
    return tag_spoken()
