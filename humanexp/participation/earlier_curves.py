"""Curves of studies that are over, next to which people see their own: who knows such curves registers a source."""

from __future__ import annotations

import hashlib
import json
from typing import Literal, Protocol

from django.contrib.auth.models import AnonymousUser

from analysis.entry import Entry
from humanexp.core import clock
from humanexp.core.models import User
from humanexp.participation.models import EarlierCurves
from humanexp.studies.models import Study


class EarlierLine(Entry):
    """The share of right answers of people, or of one network, by amount of change."""

    name: str
    kind: Literal["people", "network"]
    visual_change: tuple[float, ...]
    rate: tuple[float, ...]


class Earlier(Entry):
    """Curves of one study, in the order in which they are listed."""

    #: of the study
    title: str
    lines: tuple[EarlierLine, ...]


class Source(Protocol):
    """Knows the curves of studies; there is one such source."""

    def choices(self, user: User | AnonymousUser, study: Study) -> list[tuple[str, str]]:
        """Name and title of every study whose curves this user may show to people of `study`."""

    def read(self, user: User | AnonymousUser | None, study: Study, name: str) -> Earlier:
        """Raises InvalidRequest where the curves of this study may not be shown; no user: a command asks."""


_SOURCES: list[Source] = []


def register_source(source: Source) -> None:
    _SOURCES.append(source)


def earlier_choices(user: User | AnonymousUser, study: Study) -> list[tuple[str, str]]:
    """For forms."""
    return [choice for source in _SOURCES for choice in source.choices(user, study)]


def freeze_earlier(*, study: Study, name: str, by: User | None) -> EarlierCurves:
    """The curves of the study with this name, as they are now; part of the launch that promises them."""
    found = _SOURCES[0].read(by, study, name)
    content = found.to_json()
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    frozen, _ = EarlierCurves.objects.get_or_create(
        digest=digest, defaults={"content": content, "frozen_at": clock.now()}
    )
    return frozen
