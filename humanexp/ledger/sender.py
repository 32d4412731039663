"""The sender: carries the outbox to the recruiters, queue by queue; how one write is sent stands in delivery.py.

Rewards of many people go in one call where a recruiter takes it; that they are paid its lists say.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from django.db.models import F, Q

from humanexp.core import clock
from humanexp.core.errors import (
    IllegalTransition,
    InsufficientFunds,
    InvalidRequest,
    KeysRefused,
    OutcomeUnknown,
    RecruiterError,
    RecruiterUnavailable,
)
from humanexp.ledger.bonus_calls import CallRound, unproved
from humanexp.ledger.deliveries import delivery_of
from humanexp.ledger.delivery import Lease, count_send, deliver, held, note, notice_restoring, pause, resume
from humanexp.ledger.models import EXTRAS, MARKS, OFFERS, PLACES, Call, CallKind, Payment
from humanexp.ledger.outbox import Report
from humanexp.recruiters.models import Pause, RecruiterAccount
from humanexp.recruiters.port import Pausing, Recruiter
from humanexp.recruiters.registry import codes, recruiter_for
from humanexp.recruiters.states import UNFINISHED, AssignmentState, WriteState

#: In one call.
MOST = 1_000
#: So long the lists may take to say so; then each is asked about by itself.
SETTLES = timedelta(minutes=10)


def approve_together(recruiter: Recruiter, lease: Lease, report: Report) -> None:
    """Send what was never sent. Approving twice is approving once, so one of unknown outcome waits like the others."""
    if not recruiter.capabilities.approves_in_bulk:
        return
    planned = Payment.objects.filter(
        environment=recruiter.environment,
        kind=CallKind.REWARD,
        state=WriteState.PLANNED,
        attempts=0,
        ask_first=False,
        assignment__state=AssignmentState.SUBMITTED,
    ).order_by("pk")
    rows = dict(planned.values_list("pk", "assignment__assignment_id"))
    keys = list(rows)
    for start in range(0, len(keys), MOST):
        part = keys[start : start + MOST]
        if not lease.renew():
            return
        mine = Payment.objects.filter(pk__in=part, state=WriteState.PLANNED)
        mine.update(state=WriteState.SENDING, first_sent_at=clock.now(), attempts=F("attempts") + 1)
        count_send(recruiter.environment)
        try:
            cast(Pausing, recruiter).approve([rows[key] for key in part])
        except OutcomeUnknown as error:
            report.remark(error.message)
        except (InsufficientFunds, KeysRefused, RecruiterUnavailable) as error:
            _take_back(part)  # certainly not carried out
            report.remark(error.message)
            if isinstance(error, KeysRefused):
                raise
            return
        except RecruiterError as error:
            # Refused as a whole: one by one it turns out whose fault that is.
            Payment.objects.filter(pk__in=part, state=WriteState.SENDING).update(first_sent_at=clock.now() - SETTLES)
            report.remark(error.message)


def is_awaited(recruiter: Recruiter, call: Call) -> bool:
    """Sent with others a while ago: the next look at the lists tells."""
    return (
        recruiter.capabilities.approves_in_bulk
        and call.kind == CallKind.REWARD
        and call.state == WriteState.SENDING
        and call.first_sent_at is not None
        and timedelta() <= clock.now() - call.first_sent_at < SETTLES
    )


def _take_back(keys: list[int]) -> None:
    rows = Payment.objects.filter(pk__in=keys, state=WriteState.SENDING)
    rows.update(state=WriteState.PLANNED, first_sent_at=None, attempts=0)


#: So many writes of one queue in vain: the next queue has its turn.
MOST_IN_VAIN = 3
QUEUES_IN_VAIN = 2


class LeaseTaken(Exception):
    """Another sender has taken over."""


@dataclass(frozen=True)
class Queue:
    """Calls of some kinds, in the order they were planned."""

    kinds: tuple[str, ...]
    #: which of them
    which: Q = Q()


_TAKES_PLACES = Q(state=WriteState.PLANNED, kind__in=PLACES)
REWARDS = Queue((CallKind.REWARD,))
#: What cannot be paid here says that nothing as dear can.
BONUSES = Queue(EXTRAS)
#: In the order they are sent: who may not come again before new places, ends of HITs, rewards, and only then whatever
#: else takes money.
QUEUES = (
    Queue(MARKS),
    Queue(OFFERS, ~_TAKES_PLACES),
    REWARDS,
    Queue(OFFERS, _TAKES_PLACES),
    Queue((CallKind.REJECT,)),
    Queue((CallKind.RETURN,)),
    BONUSES,
    Queue((CallKind.MESSAGE,)),
)
#: What an administrator's pause does not hold back: it opens no place and pays nobody.
SAFE_QUEUES = QUEUES[:2]
#: Neither places nor money: told apart in the report.
WORDS = (*MARKS, CallKind.RETURN, CallKind.MESSAGE)


@dataclass
class SendReport(Report):
    """What one round did; it remarks why something waits or was refused."""

    #: HITs, payments and rejections
    confirmed: int = 0
    refused: int = 0
    #: qualifications and messages, whatever became of them
    told: int = 0
    #: still planned or of unknown outcome
    waiting: int = 0

    def count(self, call: Call, remark: str) -> None:
        """What became of a call."""
        if call.kind in WORDS:
            self.told += call.state not in UNFINISHED
            return
        self.confirmed += call.state == WriteState.CONFIRMED
        self.refused += call.state == WriteState.REFUSED
        if remark:
            self.remark(f"{call}: {remark}")


def waiting(environment: str, queue: Queue) -> Iterator[Call]:
    """Rows to deliver, each read anew when its turn comes."""
    rows = Call.objects.filter(queue.which, environment=environment, kind__in=queue.kinds, state__in=UNFINISHED)
    for pk in list(rows.order_by("pk").values_list("pk", flat=True)):
        call = Call.objects.get(pk=pk)
        if call.state in UNFINISHED:
            yield call


def count_waiting(environment: str) -> int:
    return Call.objects.filter(environment=environment, state__in=UNFINISHED).count()


def send(*, environment: str | None = None, wait_s: float = 0) -> SendReport:
    """One round through the outbox of one environment, or of all. Never call it in a transaction.

    While another sender is at work, wait for it at most `wait_s` seconds; it may do all there is to do.
    """
    report = SendReport()
    for name in [environment] if environment else codes():
        end = time.monotonic() + wait_s
        while count_waiting(name) or unproved(name):
            found = _send_for(name)
            if found is not None:
                report.add(found)
                break
            if time.monotonic() >= end:
                report.waiting += count_waiting(name)
                report.remark(f"{name}: another sender is at work.")
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
            is_paused = _is_paused(recruiter)
            if notice_restoring(environment):
                report.remark(f"{environment}: this database was restored; what it has planned is asked about first.")
            _round(recruiter, lease, report, SAFE_QUEUES if is_paused else QUEUES)
        except KeysRefused as error:
            pause(environment, Pause.KEYS, error.message)
            report.remark(error.message)
        except RecruiterUnavailable as error:
            report.remark(error.message)
    report.waiting = count_waiting(environment)
    return report


def _is_paused(recruiter: Recruiter) -> bool:
    """By a person. A pause for refused keys ends by itself once they are accepted; KeysRefused while they are not."""
    why = RecruiterAccount.objects.get(environment=recruiter.environment).pause
    if why == Pause.KEYS:
        recruiter.balance_cents()
        resume(recruiter.environment, Pause.KEYS)
    return why == Pause.HAND


def _round(recruiter: Recruiter, lease: Lease, report: SendReport, queues: Sequence[Queue]) -> None:
    """Each queue has its turn, whatever became of the one before it; two in vain, and nobody is there."""
    queues_in_vain = 0
    calls = recruiter.bonus_calls
    for queue in queues:
        try:
            if queue is BONUSES and calls is not None:
                is_in_vain = CallRound(recruiter, calls, lease.renew, report).run()
            else:
                is_in_vain = _empty(queue, recruiter, lease, report)
        except LeaseTaken:
            report.remark(f"{recruiter.environment}: another sender has taken over.")
            return
        queues_in_vain = queues_in_vain + 1 if is_in_vain else 0
        if queues_in_vain == QUEUES_IN_VAIN:
            return


def _empty(queue: Queue, recruiter: Recruiter, lease: Lease, report: SendReport) -> bool:
    """Deliver what can be delivered of a queue; whether that was given up."""
    in_vain, too_dear = 0, math.inf
    if queue is REWARDS:
        approve_together(recruiter, lease, report)
    for call in waiting(recruiter.environment, queue):
        if (queue is BONUSES and call.cost_cents >= too_dear) or is_awaited(recruiter, call):
            continue
        if not lease.renew():
            raise LeaseTaken
        try:
            remark = deliver(delivery_of(recruiter, call), call, is_ours=lease.renew)
        except IllegalTransition:
            continue  # stopped or settled by somebody else meanwhile
        except InsufficientFunds as error:
            # It steps aside: what costs less, and what costs nothing, is not held up.
            report.remark(error.message)
            too_dear = min(too_dear, call.cost_cents)
            continue
        except RecruiterUnavailable as error:
            report.remark(error.message)
            in_vain += 1
            if in_vain == MOST_IN_VAIN:
                return True
            time.sleep(recruiter.breath_s * 2**in_vain)
            continue
        except KeysRefused:
            raise
        except (RecruiterError, InvalidRequest) as error:
            # The question about this row was refused; those behind it have their turn all the same.
            note(call, last_error=error.message[:500])
            report.remark(f"{call}: {error.message}")
            continue
        in_vain = 0
        report.count(call, remark)
    return False
