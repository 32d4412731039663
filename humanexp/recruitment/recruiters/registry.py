"""Every recruiter that is known here, as a value: what it can do, what it is called, how people come and go.

A new recruiter is one file in this package that implements `base.Recruiter`, registers a `Kind`, and stands in
`shipped.py`; it passes tests/recruitment/test_recruiter_contract.py, where `RECRUITERS` and its `people` know how
somebody takes part there.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

from django.utils.functional import Promise

from humanexp.core.errors import InvalidRequest
from humanexp.recruitment.pricing import FeeTable
from humanexp.recruitment.recruiters.base import Capabilities, Recruiter
from humanexp.recruitment.recruiters.tickets import Outcome, Ticket, WayOut
from humanexp.studies.facts import Way


class Kind(ABC):
    """A sort of recruiter, before there are keys or accounts."""

    #: stored in every row about it, and typed in commands
    code: ClassVar[str]
    #: what people call it, within a sentence
    name: ClassVar[str | Promise]
    #: those with one name space of ids: the same id is the same person
    namespace: ClassVar[str]
    #: how its people's pages speak of what they came by
    way: ClassVar[Way] = "hit"
    #: ids of people; never an address, which names them
    person_id: ClassVar[re.Pattern[str]] = re.compile(r"[A-Za-z0-9_.:-]{1,64}")

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """As the settings stand now."""

    @property
    @abstractmethod
    def fees(self) -> FeeTable:
        """Without building a client: prices are shown before there are keys."""

    @abstractmethod
    def recruiter(self) -> Recruiter:
        """With the keys and the address of this one and no other. Raises KeysRefused where there are none."""

    @abstractmethod
    def ticket(self, query: Mapping[str, str]) -> Ticket:
        """Who comes, as the entry page's address says."""

    @abstractmethod
    def way_out(self, outcome: Outcome, ticket: Ticket) -> WayOut:
        """Where somebody goes with this outcome. Raises InvalidRequest for a ticket from nowhere of its own."""

    def check_submission(self, submission: str) -> None:
        """Raises InvalidRequest for an id under which nobody can begin."""
        return

    @property
    def origins(self) -> list[str]:
        """Whose pages may show the entry page in a frame, and take its form."""
        return []

    @property
    def address(self) -> str:
        """Where it answers; empty where there is no other side."""
        return ""

    @property
    def told_apart_by(self) -> list[object]:
        """Settings that a check of it depends on."""
        return []

    @property
    def listens(self) -> bool:
        """A queue is set up that it puts events into."""
        return False

    #: how its pages of the console explain it, where it needs more words than its name
    note: ClassVar[str | Promise] = ""


_KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> Kind:
    _KINDS[kind.code] = kind
    return kind


@contextmanager
def registered(kind: Kind) -> Iterator[Kind]:
    """Known for a while alone: a test, or a try-out."""
    register(kind)
    try:
        yield kind
    finally:
        del _KINDS[kind.code]


def codes() -> list[str]:
    """Every known one, in the order in which they were registered."""
    return list(_KINDS)


def is_known(code: str) -> bool:
    return code in _KINDS


def kind_of(code: str) -> Kind:
    """Raises InvalidRequest for a name that none has."""
    try:
        return _KINDS[code]
    except KeyError:
        raise InvalidRequest(f"{code!r} is no recruiter: choose one of {', '.join(codes())}.") from None


def capabilities_of(code: str) -> Capabilities:
    return kind_of(code).capabilities


def name_of(code: str) -> str:
    """What people call it; its code where it is not known any more."""
    return str(_KINDS[code].name) if code in _KINDS else code


def those(**wanted: object) -> list[str]:
    """Codes of all that have these capabilities, as they are named in `Capabilities`: `those(pays=True)`."""
    known = ((code, kind.capabilities) for code, kind in _KINDS.items())
    return [code for code, can in known if all(getattr(can, name) == value for name, value in wanted.items())]


def choices() -> list[tuple[str, str]]:
    """For forms."""
    return [(code, name_of(code)) for code in codes()]
