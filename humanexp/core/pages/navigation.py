"""Where pages announce themselves: the top navigation and the tabs of a study. Apps register in AppConfig.ready()."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

if TYPE_CHECKING:  # apps import this before there are models
    from humanexp.core.models import User


@dataclass(frozen=True, kw_only=True)
class Section:
    """An entry of the top navigation."""

    key: str
    label: str
    #: name of a URL without arguments
    url_name: str
    order: int
    #: what is shown after the label where it is not 0, for whoever is signed in
    count: Callable[[User], int] | None = None


@dataclass(frozen=True, kw_only=True)
class StudyTab:
    """A room of a study; its URL takes the study's slug."""

    key: str
    label: str
    #: name of a URL with one argument, `slug`
    url_name: str
    order: int
    #: shown for studies whose trials were imported, too
    for_imported: bool = False


_SECTIONS: dict[str, Section] = {}
_STUDY_TABS: dict[str, StudyTab] = {}


def register_section(section: Section) -> None:
    _SECTIONS[section.key] = section


def register_study_tab(tab: StudyTab) -> None:
    _STUDY_TABS[tab.key] = tab


def sections() -> list[Section]:
    return sorted(_SECTIONS.values(), key=lambda section: section.order)


def study_tabs(*, imported: bool = False) -> list[StudyTab]:
    tabs = sorted(_STUDY_TABS.values(), key=lambda tab: tab.order)
    return [tab for tab in tabs if tab.for_imported or not imported]


def tab_address(key: str, slug: str, *, imported: bool = False) -> str:
    """Address of a room of a study; empty when no app offers it."""
    found = next((tab for tab in study_tabs(imported=imported) if tab.key == key), None)
    return reverse(found.url_name, args=[slug]) if found else ""


def console(request: HttpRequest) -> dict[str, object]:
    """What every console page shows around its content."""
    return {"sections": sections(), "version": settings.VERSION}
