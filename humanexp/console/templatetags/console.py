"""Tags that any page may load: `{% load console %}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import template
from django.urls import reverse

from analysis.energy import in_words
from humanexp.core import clock
from humanexp.core.errors import JobError
from humanexp.core.models import User
from humanexp.core.pages import navigation
from humanexp.jobs.registry import registered
from humanexp.jobs.selectors import Silence, silence
from humanexp.ledger import figures
from humanexp.studies.models import Study, StudyState

register = template.Library()
_UNITS = (
    (86_400, "%(n)d day ago", "%(n)d days ago"),
    (3_600, "%(n)d hour ago", "%(n)d hours ago"),
    (60, "%(n)d minute ago", "%(n)d minutes ago"),
)


@dataclass(frozen=True)
class Link:
    label: str
    url: str
    is_current: bool
    #: of what waits there
    count: int = 0


def _is_within(path: str, url: str) -> bool:
    """The list of studies is at the root: what belongs to no section is not within it."""
    return path == url or path.startswith("/studies/" if url == "/" else url)


@register.simple_tag(takes_context=True)
def section_links(context: Mapping[str, Any]) -> list[Link]:
    """The top navigation; the section whose address is the longest beginning of this page's address is current."""
    request = context.get("request")
    path, user = (request.path, getattr(request, "user", None)) if request else ("", None)
    links = [(section, reverse(section.url_name)) for section in navigation.sections()]
    current = max((url for _, url in links if _is_within(path, url)), key=len, default="")
    return [
        Link(
            str(section.label),
            url,
            url == current,
            section.count(user) if section.count is not None and isinstance(user, User) else 0,
        )
        for section, url in links
    ]


@register.simple_tag
def study_links(study: Any, current: str = "") -> list[Link]:
    """The rooms of a study as links; `current` is the key of the room this page is in."""
    return [
        Link(str(tab.label), reverse(tab.url_name, args=[study.slug]), tab.key == current)
        for tab in navigation.study_tabs(imported=study.origin == "imported")
    ]


@register.simple_tag
def is_recruiting(study: Study) -> bool:
    """Whether a study that collects can be taken part in: not after its last campaign was stopped."""
    return study.state == StudyState.COLLECTING and figures.is_recruiting(study)


@register.simple_tag
def runner_silence() -> Silence | None:
    """What stands still for want of a job runner, or None."""
    return silence()


_TAG_CLASS = {
    # studies
    "draft": "plain",
    "collecting": "good",
    "paused": "warn",
    "stopped": "plain",
    # jobs
    "queued": "plain",
    "running": "",
    "done": "good",
    "failed": "bad",
    "cancelled": "plain",
    # verdicts on similarity
    "equivalent": "good",
    "different": "bad",
    "undecided": "warn",
    # messages of the framework
    "success": "good",
    "warning": "warn",
    "error": "bad",
}


@register.filter
def tag_class(state: str) -> str:
    """The colour class of a state's tag: good, warn, bad, plain, or none."""
    return _TAG_CLASS.get(str(state), "")


@register.filter
def number(value: float | None, digits: int = 3) -> str:
    """A number with a true minus sign; an en dash when there is none."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


@register.filter
def count(value: int | None) -> str:
    """A whole number with a comma between thousands."""
    return "–" if value is None else f"{value:,}"


@register.filter
def percent(value: float | None, digits: int = 1) -> str:
    """A fraction as per cent, with a narrow no-break space before the sign."""
    return "–" if value is None else f"{number(100 * value, digits)}\u202f%"


@register.filter
def percent_number(value: float | None, digits: int = 1) -> str:
    """A fraction in per cent without the sign, for columns that say so in their head."""
    return "–" if value is None else number(100 * value, digits)


@register.filter
def ago(moment: datetime | None) -> str:
    """How long ago, in one unit."""
    if moment is None:
        return "–"
    seconds = (clock.now() - moment).total_seconds()
    for size, one, many in _UNITS:
        if seconds >= size:
            count = int(seconds // size)
            return (one if count == 1 else many) % {"n": count}
    return "just now"


@register.filter
def duration(seconds: float | None) -> str:
    """A span of time in its two largest units."""
    if seconds is None:
        return "–"
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3600} h"


@register.filter
def energy_words(energy: Mapping[str, Any]) -> str:
    """A stored energy (`analysis.energy`) with CO2, and what both rest on."""
    return in_words(energy)


@register.filter
def readable(name: str) -> str:
    """A name from code as words: gaussian_noise -> gaussian noise."""
    return str(name).replace("_", " ")


@register.filter
def without_folders(spec: str) -> str:
    """A specification whose files are named without their folders: classifier:export:a/b.pt2 -> ...:b.pt2."""
    return re.sub(r"(?:[^:|,=@/]*/)+(?=[^:|,=@/]+\.\w+)", "", str(spec))


@register.filter
def job_title(kind: str) -> str:
    """The kind of a job as words; one without a title is told by its name: lab.count -> Lab: count."""
    with suppress(JobError):
        if title := registered(kind).title:
            return title
    app, _, verb = str(kind).partition(".")
    return f"{app.capitalize()}: {verb.replace('_', ' ')}" if verb else app.capitalize()


@register.filter
def job_subject(subject: str) -> str:
    """What a job is about as words: stimulus_set:7 -> stimulus set 7."""
    return str(subject).replace("_", " ").replace(":", " ")
