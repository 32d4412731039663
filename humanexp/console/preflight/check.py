"""What a check is given, and what it says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from django.utils.functional import Promise

from analysis.study.study import StudyConfiguration
from humanexp.console.models import Tone
from humanexp.core.models import User
from humanexp.ledger.terms import SuggestedTerms, suggested_terms
from humanexp.recruiters import registry
from humanexp.recruiters.money import Quote
from humanexp.recruiters.port import Capabilities
from humanexp.recruiting import approvals
from humanexp.recruiting.launch import quote
from humanexp.studies import selectors as studies
from humanexp.studies.models import Study


@dataclass(kw_only=True)
class Launch:
    """The launch that is being rehearsed."""

    study: Study
    to: str
    by: User | None = None
    #: what the recruiter's account holds, once a check has asked
    balance_cents: int | None = field(default=None, init=False)

    @cached_property
    def configuration(self) -> StudyConfiguration:
        return studies.configuration_of(self.study)

    @cached_property
    def terms(self) -> SuggestedTerms:
        return suggested_terms(self.study)

    @cached_property
    def price(self) -> Quote:
        """Of every place that is left."""
        return quote(
            to=self.to,
            assignments=max(1, self.terms.assignments),
            reward_cents=self.terms.reward_cents if self.can.vouches else 0,
        )

    @property
    def can(self) -> Capabilities:
        """What the recruiter can do."""
        return registry.capabilities_of(self.to)

    @property
    def is_at_home(self) -> bool:
        """The platform answers on this machine alone."""
        return approvals.is_at_home()

    @property
    def is_rehearsal(self) -> bool:
        """No stranger can come: nobody but this machine reaches the platform, or the recruiter is a sandbox."""
        return approvals.is_rehearsal(self.to)

    @property
    def recruiter_address(self) -> str:
        """Where the recruiter answers; empty where there is no other side."""
        return registry.kind_of(self.to).address


@dataclass(frozen=True, kw_only=True)
class Line:
    """What one check found."""

    tone: Tone
    detail: str
    #: what to do about it
    remedy: str = ""
    #: where to do it, and what the link is called
    url: str = ""
    action: str = ""


@dataclass(frozen=True)
class Check:
    key: str
    title: str | Promise
    look: Callable[[Launch], Line]


CHECKS: list[Check] = []


def check(title: str | Promise) -> Callable[[Callable[[Launch], Line]], Callable[[Launch], Line]]:
    """Register a check under the name of its function."""

    def register(look: Callable[[Launch], Line]) -> Callable[[Launch], Line]:
        CHECKS.append(Check(look.__name__.replace("_", "-"), title, look))
        return look

    return register


def good(detail: str) -> Line:
    return Line(tone=Tone.GOOD, detail=detail)


def warn(detail: str, remedy: str = "", *, url: str = "", action: str = "") -> Line:
    return Line(tone=Tone.WARN, detail=detail, remedy=remedy, url=url, action=action)


def bad(detail: str, remedy: str, *, url: str = "", action: str = "") -> Line:
    return Line(tone=Tone.BAD, detail=detail, remedy=remedy, url=url, action=action)


def as_stored(entry: Check, line: Line) -> dict[str, str]:
    return {"key": entry.key, "title": str(entry.title), **dataclasses.asdict(line), "tone": str(line.tone)}
