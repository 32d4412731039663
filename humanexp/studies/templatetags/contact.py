"""Whom participants can write to, as their pages show it."""

from __future__ import annotations

from urllib.parse import quote

from django import template
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.html import format_html
from django.utils.translation import gettext

from humanexp.studies.facts import StudyFacts

register = template.Library()


@register.filter
def contact_of(facts: StudyFacts) -> str:
    """The contact; an e-mail address begins a letter that names the study, to which the page's script adds the visit.

    In a window of its own: where letters are written on a page, it would take the place of the study.
    """
    try:
        validate_email(facts.contact)
    except ValidationError:
        return facts.contact
    address = f"mailto:{quote(facts.contact, safe='@')}?subject={quote(facts.title or gettext('Study'), safe='')}"
    link = '<a href="{}" target="_blank" rel="noopener noreferrer" data-letter>{}</a>'
    return format_html(link, address, facts.contact)
