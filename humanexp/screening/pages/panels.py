"""What other apps show beside the evidence of a session, such as its pay. They register; screening imports none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from humanexp.core.models import User
from humanexp.participation.models import Session


@dataclass(frozen=True, kw_only=True)
class Narrowing:
    """A choice above the list of sessions."""

    key: str
    label: str
    narrow: Callable[[QuerySet[Session]], QuerySet[Session]]


@dataclass(frozen=True, kw_only=True)
class SessionTag:
    """A word about a session in the list."""

    text: str
    #: good, warn, bad or plain
    tone: str = "plain"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One app's part of the review."""

    #: stands beside the evidence; sees the page's context, and what `facts_of` adds
    template: str
    facts_of: Callable[[Session, User], Mapping[str, Any]]
    #: by the session's primary key
    marks_of: Callable[[Sequence[Session]], Mapping[int, SessionTag]]
    narrowings: tuple[Narrowing, ...] = ()


_PANELS: list[Panel] = []


def register_panel(panel: Panel) -> None:
    _PANELS.append(panel)


def panels() -> list[Panel]:
    return list(_PANELS)


def narrowings() -> dict[str, Narrowing]:
    return {narrowing.key: narrowing for panel in _PANELS for narrowing in panel.narrowings}


def marks_of(sessions: Sequence[Session]) -> dict[int, list[SessionTag]]:
    found: dict[int, list[SessionTag]] = {}
    for panel in _PANELS:
        for pk, mark in panel.marks_of(sessions).items():
            found.setdefault(pk, []).append(mark)
    return found
