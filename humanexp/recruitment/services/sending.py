"""The sender: carries the outbox to the recruiters, exactly once, whatever is lost on the way.

Before a first send the row is committed as "sending". A row found "sending" has an unknown outcome: the other side is
asked before it is sent again, with the same token. The recruiter remembers tokens for a day; a row older than that is
asked about twice, a while apart, before it is sent again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import (
    AlreadyDone,
    ApplicationError,
    IllegalTransition,
    InsufficientFunds,
    InvalidRequest,
    KeysRefused,
    NotAtRecruiter,
    OutcomeUnknown,
    RecruiterError,
    RecruiterUnavailable,
    StateRefused,
)
from humanexp.recruitment.models import (
    Environment,
    HitWrite,
    Message,
    Pause,
    Payment,
    QualificationWrite,
    RecruiterWrite,
    Rejection,
    SenderLease,
)
from humanexp.recruitment.recruiters import recruiter_for
from humanexp.recruitment.recruiters.base import Recruiter
from humanexp.recruitment.services.deliveries import Delivery, delivery_of
from humanexp.recruitment.services.lease import Lease, held, pause, resume
from humanexp.recruitment.states import WriteState, advance

logger = logging.getLogger(__name__)

#: Four hours short of the recruiter's memory of tokens.
TOKEN_LIVES = timedelta(hours=20)
#: Between the two questions about a row whose token may be forgotten.
ASK_AGAIN_AFTER = timedelta(minutes=1)
#: A fresh submission may be refused for a while (its state is "null" there), and yet be paid later.
STATE_SETTLES = timedelta(minutes=30)
#: Kinds in the order they are sent: who may not come again before new places, a HIT before its expiry, rewards as they
#: were planned.
QUEUES: tuple[type[RecruiterWrite], ...] = (QualificationWrite, HitWrite, Payment, Rejection, Message)
#: Neither places nor money: told apart in the report.
WORDS = (QualificationWrite, Message)
UNFINISHED = (WriteState.PLANNED, WriteState.SENDING)


@dataclass
class SendReport:
    """What one round did."""

    #: HITs, payments and rejections
    confirmed: int = 0
    refused: int = 0
    #: qualifications and messages, whatever became of them
    told: int = 0
    #: still planned or of unknown outcome
    waiting: int = 0
    #: why something waits or was refused, one sentence each
    remarks: list[str] = field(default_factory=list)

    def add(self, other: SendReport) -> None:
        self.confirmed += other.confirmed
        self.refused += other.refused
        self.told += other.told
        self.waiting += other.waiting
        self.remarks += [remark for remark in other.remarks if remark not in self.remarks]


def waiting(environment: str) -> Iterator[RecruiterWrite]:
    """Rows to deliver, each read anew when its turn comes."""
    for queue in QUEUES:
        manager = queue._default_manager
        keys = manager.filter(environment=environment, state__in=UNFINISHED).order_by("pk")
        for pk in list(keys.values_list("pk", flat=True)):
            write = manager.get(pk=pk)
            if write.state in UNFINISHED:
                yield write


def count_waiting(environment: str) -> int:
    return sum(q._default_manager.filter(environment=environment, state__in=UNFINISHED).count() for q in QUEUES)


def send(*, environment: str | None = None, wait_s: float = 0) -> SendReport:
    """One round through the outbox of one environment, or of all. Never call it in a transaction.

    While another sender is at work, wait for it at most `wait_s` seconds; it may do all there is to do.
    """
    report = SendReport()
    for name in [environment] if environment else Environment.values:
        end = time.monotonic() + wait_s
        while count_waiting(name):
            found = _send_for(name)
            if found is not None:
                report.add(found)
                break
            if time.monotonic() >= end:
                report.waiting += count_waiting(name)
                report.remarks.append(f"{name}: another sender is at work.")
                break
            time.sleep(0.2)
    return report


def _send_for(environment: str) -> SendReport | None:
    """None while another sender holds the lease."""
    report = SendReport()
    with held(environment) as lease:
        if lease is None:
            return None
        try:
            recruiter = recruiter_for(environment)
            if _may_send(recruiter, report):
                _round(recruiter, lease, report)
        except KeysRefused as error:
            pause(environment, Pause.KEYS, error.message)
            report.remarks.append(error.message)
        except RecruiterUnavailable as error:
            report.remarks.append(error.message)
    report.waiting = count_waiting(environment)
    return report


def _may_send(recruiter: Recruiter, report: SendReport) -> bool:
    """A pause for refused keys ends by itself once they are accepted; one for the books when `reconcile` is content."""
    row = SenderLease.objects.get(environment=recruiter.environment)
    if row.pause == Pause.KEYS:
        recruiter.balance_cents()  # raises KeysRefused while they are not
        resume(recruiter.environment, Pause.KEYS)
    elif row.pause == Pause.LEDGER:
        report.remarks.append(f"{recruiter.environment}: {row.pause_detail}")
        return False
    return True


def _round(recruiter: Recruiter, lease: Lease, report: SendReport) -> None:
    in_vain = 0
    for write in waiting(recruiter.environment):
        if not lease.renew():
            report.remarks.append(f"{recruiter.environment}: another sender has taken over.")
            return
        try:
            remark = deliver(delivery_of(recruiter, write), write, is_ours=lease.renew)
        except IllegalTransition:
            continue  # stopped or settled by somebody else meanwhile
        except InsufficientFunds as error:
            # oldest first: nobody behind is paid before this one
            report.remarks.append(error.message)
            return
        except RecruiterUnavailable as error:
            report.remarks.append(error.message)
            in_vain += 1
            if in_vain == 3:
                return
            time.sleep(recruiter.breath_s * 2**in_vain)
            continue
        except KeysRefused:
            raise
        except (RecruiterError, InvalidRequest) as error:
            # The question about this row was refused; those behind it have their turn all the same.
            _note(write, last_error=error.message[:500])
            report.remarks.append(f"{write}: {error.message}")
            continue
        in_vain = 0
        if isinstance(write, WORDS):
            report.told += write.state not in UNFINISHED
            continue
        if write.state == WriteState.CONFIRMED:
            report.confirmed += 1
        elif write.state == WriteState.REFUSED:
            report.refused += 1
        if remark:
            report.remarks.append(f"{write}: {remark}")


def deliver(delivery: Delivery, write: RecruiterWrite, *, is_ours: Callable[[], bool]) -> str:
    """Take one write as far as it goes now; returns why it is not confirmed, or nothing.

    `is_ours` renews the lease. It is asked once more before a re-send: asking the other side may have taken so long
    that somebody else has taken over.
    """
    is_first = not write.attempts
    if write.state == WriteState.PLANNED:
        if why := delivery.waits_for():
            return why
        advance(write, WriteState.SENDING, first_sent_at=clock.now())
    if not is_first:
        remark = _ask_before_sending_again(delivery, write)
        if remark is not None:
            return remark
        if not is_ours():
            return "Another sender has taken over."
    _note(write, attempts=write.attempts + 1)
    try:
        delivery.carry_out()
    except OutcomeUnknown as error:
        _note(write, last_error=error.message[:500])
        return error.message
    except (AlreadyDone, StateRefused, NotAtRecruiter) as error:
        return _settle_by_asking(delivery, write, error)
    except (InsufficientFunds, KeysRefused, RecruiterUnavailable) as error:
        _note(write, last_error=error.message[:500])
        raise
    except (RecruiterError, InvalidRequest) as error:
        return _refuse(delivery, error.message)
    delivery.confirm()
    return ""


def _ask_before_sending_again(delivery: Delivery, write: RecruiterWrite) -> str | None:
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
    if delivery.is_idempotent or (write.first_sent_at is not None and now - write.first_sent_at < TOKEN_LIVES):
        return None
    if write.missed_at is None:
        _note(write, missed_at=now)
    if write.missed_at is None or now - write.missed_at < ASK_AGAIN_AFTER:
        return "The other side does not have it; it is asked once more before it is sent again."
    logger.warning("%s is sent again after %s", write, now - (write.first_sent_at or now))
    record(
        action="send-again",
        subject=f"{type(write).__name__.lower()}:{write.pk}",
        study=write.campaign.study.slug,
        attempts=write.attempts,
    )
    _note(write, first_sent_at=now, missed_at=None)
    return None


def _settle_by_asking(delivery: Delivery, write: RecruiterWrite, error: ApplicationError) -> str:
    """The other side says that this was done, or cannot be: a read decides."""
    word = delivery.ask()
    if word.is_done:
        delivery.confirm()
        return ""
    if word.refusal:
        return _refuse(delivery, word.refusal)
    is_fresh = write.first_sent_at is None or clock.now() - write.first_sent_at < STATE_SETTLES
    if isinstance(error, AlreadyDone) or is_fresh:
        _note(write, last_error=error.message[:500])
        return error.message
    return _refuse(delivery, error.message)


def _refuse(delivery: Delivery, why: str) -> str:
    delivery.refuse(why)
    return why


def _note(write: RecruiterWrite, **facts: object) -> None:
    type(write)._default_manager.filter(pk=write.pk).update(**facts)
    for name, fact in facts.items():
        setattr(write, name, fact)
