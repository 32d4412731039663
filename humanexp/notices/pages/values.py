"""What the pages show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from humanexp.core.models import User
from humanexp.notices import selectors
from humanexp.notices.models import Address, Way
from humanexp.notices.selectors import ALIVE
from humanexp.studies.models import Study
from humanexp.studies.waiting import Waiting


@dataclass(frozen=True, kw_only=True)
class Group:
    """What waits in one study, or, without one, at the installation and with recruiters."""

    study: Study | None
    entries: list[Waiting]


_GRAVEST = ("bad", "warn", "good", "note")


def groups_of(found: list[Waiting]) -> list[Group]:
    """The installation first, then the studies with the gravest; within each the gravest first."""
    by_study: dict[int, Group] = {}
    for one in found:
        group = by_study.setdefault(one.study.pk if one.study else 0, Group(study=one.study, entries=[]))
        group.entries.append(one)
    for group in by_study.values():
        group.entries.sort(key=lambda one: _GRAVEST.index(one.severity))
    return sorted(
        by_study.values(),
        key=lambda group: (group.study is not None, _GRAVEST.index(group.entries[0].severity)),
    )


@dataclass(frozen=True, kw_only=True)
class ShownAddress:
    """An address as a page shows it: what may be a secret is not."""

    address: Address
    shown: str

    @property
    def pk(self) -> int:
        return self.address.pk


def shown(address: Address) -> ShownAddress:
    if address.way == Way.EMAIL:
        return ShownAddress(address=address, shown=address.target or (address.user.email if address.user else ""))
    return ShownAddress(address=address, shown=f"{urlsplit(address.target).netloc}/…")


def alive() -> dict[str, Any] | None:
    """When the address of ALIVE_URL was last called, and why not since."""
    last = selectors.observation(ALIVE)
    if last is None:
        return None
    called_at = last.seen.get("called_at")
    return {
        "at": last.at,
        "called_at": datetime.fromisoformat(called_at) if called_at else None,
        "silent_because": last.seen.get("silent_because", []),
        "error": last.seen.get("error", ""),
    }


def failing_of(user: User) -> list[ShownAddress]:
    return [shown(address) for address in selectors.failing(user)]
