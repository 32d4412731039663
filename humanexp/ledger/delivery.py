"""One write, taken as far as it goes now: asked about where it may have been sent before, and sent once.

Before a first send the row is committed as "sending". A row found "sending" has an unknown outcome: the other side is
asked before it is sent again, with the same token. The recruiter remembers tokens for a day; a row older than that, or
of a database that was restored, may have been sent without our knowing: it is asked about twice, a while apart, before
it is sent, be it for the first time. A bonus is always asked about: paid twice cannot be undone.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, cast

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import (
    AlreadyDone,
    ApplicationError,
    InsufficientFunds,
    InvalidRequest,
    KeysRefused,
    NotAtRecruiter,
    OutcomeUnknown,
    RecruiterError,
    RecruiterUnavailable,
    StateRefused,
)
from humanexp.ledger.lease import count_send
from humanexp.ledger.models.calls import Call
from humanexp.recruiters.models import Assignment, Hit
from humanexp.recruiters.port import Recruiter
from humanexp.recruiters.states import WriteState, advance


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


logger = logging.getLogger(__name__)

#: So much short of the recruiter's memory of tokens one is taken for forgotten.
SPARE = timedelta(hours=4)
#: Between the two questions about a row whose token may be forgotten.
ASK_AGAIN_AFTER = timedelta(minutes=1)
#: A fresh submission may be refused for a while (its state is "null" there), and yet be paid later.
STATE_SETTLES = timedelta(minutes=30)
#: Clocks of the database's machine and of this one may stand so much apart.
CLOCKS_PART = timedelta(minutes=5)
TAKEN_OVER = "Another sender has taken over."


def deliver(delivery: Delivery, call: Call, *, is_ours: Callable[[], bool]) -> str:
    """Take one write as far as it goes now; returns why it is not confirmed, or nothing.

    `is_ours` renews the lease. It is asked once more before a re-send: asking the other side may have taken so long
    that somebody else has taken over.
    """
    if call.state == WriteState.PLANNED and (why := delivery.waits_for()):
        return why
    if _may_be_there(delivery, call):
        remark = _ask_before_sending(delivery, call)
        if remark is not None:
            return remark
        if not is_ours():
            return TAKEN_OVER
        if why := delivery.waits_for():
            return why
    was_tried = call.attempts > 0
    if call.state == WriteState.PLANNED:
        advance(call, WriteState.SENDING, first_sent_at=call.first_sent_at or clock.now())
    count_send(call.environment)
    if not _take(call):
        return TAKEN_OVER
    try:
        delivery.carry_out()
    except OutcomeUnknown as error:
        note(call, last_error=error.message[:500])
        return error.message
    except (AlreadyDone, StateRefused, NotAtRecruiter) as error:
        return _settle_by_asking(delivery, call, error)
    except InsufficientFunds as error:
        if not was_tried:  # certainly not carried out, now or ever
            advance(call, WriteState.PLANNED, attempts=0, first_sent_at=None)
        note(call, last_error=error.message[:500])
        raise
    except (KeysRefused, RecruiterUnavailable) as error:
        note(call, last_error=error.message[:500])
        raise
    except (RecruiterError, InvalidRequest) as error:
        return _refuse(delivery, error.message)
    delivery.confirm()
    return ""


def _take(call: Call) -> bool:
    """Claim this attempt: of two senders that both believe they hold the lease, one sends it."""
    mine = Call.objects.filter(pk=call.pk, state=WriteState.SENDING, attempts=call.attempts)
    if not mine.update(attempts=call.attempts + 1, ask_first=False):
        return False
    call.attempts, call.ask_first = call.attempts + 1, False
    return True


def _may_be_there(delivery: Delivery, call: Call) -> bool:
    """Sent before, as far as we remember; or it may have been, and the recruiter would not know the token any more.

    Where it never knew one, our own memory is all there is, but for what is always asked about.
    """
    forgets = bool(delivery.recruiter.token_memory) and not _is_remembered(delivery, call.created_at)
    return bool(call.attempts) or call.ask_first or forgets or delivery.asks_first


def _is_remembered(delivery: Delivery, since: datetime | None) -> bool:
    """Whether a token that was used then is still carried out once. A time to come was written by another clock."""
    if since is None:
        return False
    return timedelta() <= clock.now() - since + CLOCKS_PART < delivery.recruiter.token_memory - SPARE


def _ask_before_sending(delivery: Delivery, call: Call) -> str | None:
    """None when the write has to be sent (again); else what is known about it now."""
    word = delivery.ask()
    if word.is_done:
        delivery.confirm()
        return ""
    if word.refusal:
        return _refuse(delivery, word.refusal)
    if word.wait:
        return word.wait
    now = clock.now()
    is_remembered = _is_remembered(delivery, call.first_sent_at or call.created_at)
    if delivery.is_idempotent or (not call.ask_first and is_remembered):
        return None
    if call.missed_at is None or call.missed_at > now:  # later than now: the clock was set back
        note(call, missed_at=now)
    if call.missed_at is None or now - call.missed_at < ASK_AGAIN_AFTER:
        return "The other side does not have it; it is asked once more before it is sent."
    logger.warning("%s is sent; it was planned at %s", call, call.created_at)
    record(
        action="send-again" if call.attempts else "send-late",
        subject=f"call:{call.pk}",
        study=call.campaign.study.slug if call.campaign else "",
        attempts=call.attempts,
    )
    note(call, first_sent_at=now, missed_at=None)
    return None


def _settle_by_asking(delivery: Delivery, call: Call, error: ApplicationError) -> str:
    """The other side says that this was done, or cannot be: a read decides."""
    word = delivery.ask()
    if word.is_done:
        delivery.confirm()
        return ""
    if word.refusal:
        return _refuse(delivery, word.refusal)
    is_fresh = call.first_sent_at is None or clock.now() - call.first_sent_at < STATE_SETTLES
    if isinstance(error, AlreadyDone) or is_fresh:
        note(call, last_error=error.message[:500])
        return error.message
    return _refuse(delivery, error.message)


def _refuse(delivery: Delivery, why: str) -> str:
    delivery.refuse(why)
    return why


def note(call: Call, **facts: object) -> None:
    """Store facts about a write on its way, whatever its state."""
    Call.objects.filter(pk=call.pk).update(**facts)
    for name, fact in facts.items():
        setattr(call, name, fact)
