"""What somebody should know or do something about: of doctor, pre-flight, probes, the monitor and notices alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, ParamSpec


class Severity(StrEnum):
    """How much it matters; pages colour by these names."""

    GOOD = "good"
    NOTE = "note"
    WARN = "warn"
    BAD = "bad"
    #: what the product needs in order to work at all
    MISSING = "missing"

    @property
    def is_red(self) -> bool:
        return self in (Severity.BAD, Severity.MISSING)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A sentence about what was found, and one about what to do; both are complete."""

    key: str = ""
    severity: Severity
    text: str
    remedy: str = ""
    #: where to do it, and what the link is called
    url: str = ""
    button: str = ""
    #: what it is about, as a title
    subject: str = ""
    #: the same without sums, ids and files, for messages that leave the site; empty: the text has none
    notice: str = ""


def good(text: str) -> Problem:
    return Problem(severity=Severity.GOOD, text=text)


def note(text: str, remedy: str = "") -> Problem:
    return Problem(severity=Severity.NOTE, text=text, remedy=remedy)


def warn(text: str, remedy: str = "", *, url: str = "", button: str = "") -> Problem:
    return Problem(severity=Severity.WARN, text=text, remedy=remedy, url=url, button=button)


def bad(text: str, remedy: str = "", *, url: str = "", button: str = "", notice: str = "") -> Problem:
    return Problem(severity=Severity.BAD, text=text, remedy=remedy, url=url, button=button, notice=notice)


def missing(text: str, remedy: str = "") -> Problem:
    return Problem(severity=Severity.MISSING, text=text, remedy=remedy)


Asked = ParamSpec("Asked")


@dataclass(frozen=True)
class Question(Generic[Asked]):
    key: str
    subject: str
    ask: Callable[Asked, Problem]


class Questions(list[Question[Asked]]):
    """What is asked, in the order in which it was registered; a question's key is its function's name."""

    def __call__(self, subject: str) -> Callable[[Callable[Asked, Problem]], Callable[Asked, Problem]]:
        """Register a question about `subject`."""

        def register(ask: Callable[Asked, Problem]) -> Callable[Asked, Problem]:
            self.append(Question(ask.__name__.replace("_", "-"), subject, ask))
            return ask

        return register
