"""One write, taken as far as it goes now; and the right to send for an environment, which one sender has at a time.

On one machine a lease ends by the clock that counts from the machine's start, which nobody sets. A holder on another
machine is judged by the wall clock; there `deliver` keeps two from sending the same attempt.

Writes are counted in the database and in a file beside it. A database that was restored from a backup has forgotten
what was sent since. The file, which is not part of the database, then counts further than it, or is not there:
everything that the database still means to send is asked about first. Where both were set back together nothing here
tells; a bonus is asked about by itself, see bonus_calls.

Before a first send the row is committed as "sending". A row found "sending" has an unknown outcome: the other side is
asked before it is sent again, with the same token. The recruiter remembers tokens for a day; a row older than that, or
of a database that was restored, may have been sent without our knowing: it is asked about twice, a while apart, before
it is sent, be it for the first time. A bonus is always asked about: paid twice cannot be undone.
"""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, cast

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from humanexp.core import clock
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
from humanexp.core.models import record
from humanexp.core.storage import write_whole
from humanexp.jobs import services as jobs
from humanexp.ledger.models import Call
from humanexp.recruiters.models import Assignment, Hit, Pause, RecruiterAccount
from humanexp.recruiters.port import Recruiter
from humanexp.recruiters.registry import capabilities_of
from humanexp.recruiters.states import UNSETTLED, WriteState, advance

#: Longer than one write can take (5 s to connect and 20 s to be answered) and the question before it.
LEASE = timedelta(seconds=90)


class Lease:
    """The right to send for one environment; a dead holder's lease runs out."""

    def __init__(self, environment: str, length: timedelta = LEASE) -> None:
        self.environment, self.length = environment, length
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"

    def renew(self) -> bool:
        """Hold it for another while; False when another sender holds it. Asked before every write."""
        now, uptime_s, boot = clock.now(), time.monotonic(), this_boot()
        # An end further off than any lease is long was written before the clock was set back.
        is_over_elsewhere = Q(until__lt=now) | Q(until__gt=now + max(self.length, LEASE))
        elsewhere = Q(boot="") | ~Q(boot=boot) if boot else Q()
        is_over = Q(boot=boot, until_uptime_s__lt=uptime_s) if boot else Q(pk=None)
        free = Q(holder="") | Q(holder=self.holder) | is_over | (elsewhere & is_over_elsewhere)
        row = RecruiterAccount.objects.filter(environment=self.environment).filter(free)
        until_s = uptime_s + self.length.total_seconds()
        return bool(row.update(holder=self.holder, until=now + self.length, until_uptime_s=until_s, boot=boot))

    def give_back(self) -> None:
        row = RecruiterAccount.objects.filter(environment=self.environment, holder=self.holder)
        row.update(holder="", until=None, until_uptime_s=None, boot="")


@lru_cache(maxsize=1)
def this_boot() -> str:
    """Which start of which machine this is; empty where the system does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


@contextmanager
def held(environment: str) -> Iterator[Lease | None]:
    """The lease, or None while somebody else has it."""
    RecruiterAccount.objects.get_or_create(environment=environment)
    lease = Lease(environment)
    if not lease.renew():
        yield None
        return
    try:
        yield lease
    finally:
        lease.give_back()


def pause(environment: str, why: Pause, detail: str) -> None:
    """Nothing is sent until the cause is gone; the pages say why. What a person has paused stays so."""
    RecruiterAccount.objects.get_or_create(environment=environment)
    RecruiterAccount.objects.filter(environment=environment).exclude(pause=Pause.HAND).update(
        pause=why, pause_detail=detail[:500]
    )


def resume(environment: str, after: Pause) -> None:
    """End a pause for this cause, and no other."""
    RecruiterAccount.objects.filter(environment=environment, pause=after).update(pause=Pause.NO, pause_detail="")


logger = logging.getLogger(__name__)


def file_of(environment: str) -> Path:
    return Path(settings.MEDIA_ROOT) / "sends" / environment


def count_send(environment: str) -> None:
    """Right before a write is sent. The database first: the file is ahead of it only where it has forgotten."""
    if not capabilities_of(environment).vouches:
        return  # there is no other side
    row = RecruiterAccount.objects.filter(environment=environment)
    row.update(sends=F("sends") + 1)
    try:
        _raise_to(environment, row.values_list("sends", flat=True).get())
    except OSError as error:  # a full disk keeps nobody from being paid
        logger.warning("%s: the file that counts sends cannot be written: %s", environment, error)


def notice_restoring(environment: str) -> bool:
    """Whether this database has forgotten sends; then nothing planned in it goes out unasked."""
    if not capabilities_of(environment).vouches:
        return False
    known = _count_in_file(environment)  # read before the database: whoever sends meanwhile is counted there first
    row = RecruiterAccount.objects.get(environment=environment)
    if known is None and not row.sends:
        _raise_to(environment, 0)
        return False
    if known is not None and known <= row.sends:
        return False
    # without its file, a database that has sent is another machine's, or was restored there: nobody knows what it lacks
    sends = max(known or 0, row.sends)
    logger.warning("%s: the database was restored: it may have forgotten what was sent", environment)
    with transaction.atomic():
        open_rows = Call.objects.filter(environment=environment).exclude(state=WriteState.CONFIRMED)
        open_rows.update(ask_first=True)
        RecruiterAccount.objects.filter(pk=row.pk).update(sends=sends, to_compare_since=clock.now())
        record(action="restored-database", subject=f"recruiter:{environment}", forgotten=sends - row.sends)
        jobs.submit("recruitment.reconcile", subject=f"recruiter:{environment}")
    _raise_to(environment, sends)
    return True


def foresee_restoring() -> None:
    """Count a send more than the database knows: call it in the transaction that fills the database from a backup.

    Nobody can say what was sent after the backup, and on another machine the file that counts it is gone. From here on
    every sender notices, also where the restore ends half-way.
    """
    for environment, sends in RecruiterAccount.objects.values_list("environment", "sends"):
        is_used = sends or Call.objects.filter(environment=environment).exists()
        if is_used and capabilities_of(environment).vouches:
            _raise_to(environment, sends + 1)


def treat_as_restored() -> int:
    """Mark what is unsent at once, not only when a sender notices; how many writes are asked about before they go."""
    for environment in RecruiterAccount.objects.values_list("environment", flat=True):
        notice_restoring(environment)
    return Call.objects.filter(ask_first=True, state__in=UNSETTLED).count()


def _raise_to(environment: str, count: int) -> None:
    """The file never counts back, whoever else is counting."""
    with _locked(environment):
        if (_count_in_file(environment) or 0) >= count and file_of(environment).exists():
            return
        write_whole(file_of(environment), f"{count}\n".encode())


def _count_in_file(environment: str) -> int | None:
    """None where there is none, or nothing that counts."""
    try:
        return int(file_of(environment).read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return None


@contextmanager
def _locked(environment: str) -> Iterator[None]:
    folder = file_of(environment).parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / f".{environment}.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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
