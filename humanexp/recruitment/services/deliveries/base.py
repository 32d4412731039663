"""What every call on its way has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, cast

from humanexp.core import clock
from humanexp.recruitment.models import Assignment, Call, Hit
from humanexp.recruitment.recruiters.base import Recruiter
from humanexp.recruitment.states import WriteState, advance


@dataclass(frozen=True)
class WriteOutcome:
    """What the other side says about a call."""

    is_done: bool
    #: it never can be done
    refusal: str = ""
    #: nothing can be said or done yet
    wait: str = ""


DONE = WriteOutcome(is_done=True)
NOT_DONE = WriteOutcome(is_done=False)


class Delivery(ABC):
    """A call on its way."""

    #: which of the recruiter's promises about repeats is meant
    repeats: ClassVar[str]
    #: the other side is asked before the very first send, too
    asks_first: ClassVar[bool] = False

    def __init__(self, recruiter: Recruiter, call: Call) -> None:
        self.recruiter, self.call = recruiter, call

    @property
    def hit(self) -> Hit:
        """Of a call about an offer."""
        return cast(Hit, self.call.hit)

    @property
    def assignment(self) -> Assignment:
        """Of a call about a submission."""
        return cast(Assignment, self.call.assignment)

    @abstractmethod
    def ask(self) -> WriteOutcome:
        """Whether it took effect."""

    @abstractmethod
    def carry_out(self) -> None:
        """Send it, once."""

    @property
    def is_idempotent(self) -> bool:
        """The recruiter itself makes two of these one, whenever the second comes."""
        return bool(getattr(self.recruiter.capabilities.repeats, self.repeats) == "safe")

    def waits_for(self) -> str:
        """Why a send has to wait, or nothing."""
        return ""

    def refuse(self, why: str) -> None:
        advance(self.call, WriteState.REFUSED, last_error=why[:500])

    def confirm(self) -> None:
        """Part of the transaction that stores what follows from it, where anything does."""
        advance(self.call, WriteState.CONFIRMED, confirmed_at=clock.now(), last_error="", missed_at=None)
