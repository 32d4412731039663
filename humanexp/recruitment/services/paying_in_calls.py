"""Bonuses where a recruiter knows neither tokens nor reasons: several by one call, sent once, proved afterwards.

Before the call, the rows, what each submission had been paid, and the balance are committed. Whatever is answered, the
recruiter is then asked until it lists the amount once more than before. If it does not for a day, a person decides;
nothing here ever sends a bonus a second time. Of one submission a second bonus waits until the first is settled: the
amounts that are listed do not say which is which.

Nor is a first one sent while the recruiter lists an amount that nothing here explains: a database or a disk that was
set back has forgotten a payment, or somebody has paid by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from django.conf import settings
from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import (
    IllegalTransition,
    InsufficientFunds,
    KeysRefused,
    OutcomeUnknown,
    RecruiterError,
    RecruiterUnavailable,
)
from humanexp.recruitment import money
from humanexp.recruitment.models import (
    EXTRAS,
    AttemptOutcome,
    BonusAttempt,
    BonusCall,
    CallAnswer,
    Difference,
    Hit,
    Payment,
    PaymentKind,
    RecruiterAccount,
)
from humanexp.recruitment.recruiters.base import Recruiter
from humanexp.recruitment.recruiters.bonus_calls import BonusCalls, BonusLine, BonusPlan
from humanexp.recruitment.services.counting import count_send
from humanexp.recruitment.services.deliveries.money import NOBODY, Bonus
from humanexp.recruitment.services.outbox import Report
from humanexp.recruitment.states import DifferenceState, WriteState, advance

#: When the recruiter is asked after a call, and how often later on, and once a person has been asked.
LOOKS = tuple(timedelta(minutes=minutes) for minutes in (2, 5, 15, 60))
LOOK_EVERY, PARKED_EVERY = timedelta(hours=1), timedelta(hours=6)
#: So many questions in a row without an answer: nobody is there.
MOST_IN_VAIN = 3
UNPROVED = "It was sent, and nothing shows that it was paid: a person has to look."
FORGOTTEN = "This database was restored, and may have forgotten that it was sent: a person has to look."
UNEXPLAINED = "The recruiter lists {listed} for this submission, which no payment here explains: a person has to look."


def evidence_wait() -> timedelta:
    return timedelta(hours=settings.BONUS_EVIDENCE_HOURS)


def unproved(environment: str) -> list[BonusAttempt]:
    """Lines that the recruiter is to be asked about now, call by call."""
    rows = BonusAttempt.objects.filter(
        outcome=AttemptOutcome.OPEN, look_at__lte=clock.now(), call__environment=environment
    )
    return list(rows.select_related("call__hit", "assignment").order_by("call", "pk"))


@dataclass
class CallRound:
    """One round for one account. `is_ours` renews the lease; without it, nothing more is sent."""

    recruiter: Recruiter
    calls: BonusCalls
    is_ours: Callable[[], bool]
    report: Report
    in_vain: int = 0

    def run(self) -> bool:
        """Ask what is due, then send what is planned; whether it was given up."""
        for call, attempts in groupby(unproved(self.recruiter.environment), key=lambda one: one.call):
            self._patiently(lambda call=call: self._see_standing(call))  # type: ignore[misc]
            for attempt in attempts:
                if not self._goes_on():
                    return True
                self._patiently(lambda attempt=attempt: self._look(attempt))  # type: ignore[misc]
        for hit, rows in self._ready().items():
            for first in range(0, len(rows), self.calls.most):
                if not self._goes_on():
                    return True
                self._pay(hit, rows[first : first + self.calls.most])
        return self.in_vain >= MOST_IN_VAIN

    def _goes_on(self) -> bool:
        return self.in_vain < MOST_IN_VAIN and self.is_ours()

    def _patiently(self, ask: Callable[[], None]) -> bool:
        """Whether there was an answer."""
        try:
            ask()
        except KeysRefused:
            raise
        except RecruiterError as error:
            self.in_vain += isinstance(error, RecruiterUnavailable)
            self.report.remark(error.message)
            return False
        self.in_vain = 0
        return True

    # Looking ----------------------------------------------------------------------------------------------------

    def _see_standing(self, call: BonusCall) -> None:
        now = self.calls.standing(call.hit.hit_id)
        facts = {"balance_cents": now.balance_cents, "bonuses_cents": now.bonuses_cents, "looked_at": clock.now()}
        BonusCall.objects.filter(pk=call.pk).update(**facts)

    def _look(self, attempt: BonusAttempt) -> None:
        learn(attempt, self.calls.listed(attempt.assignment.assignment_id))

    # Sending ----------------------------------------------------------------------------------------------------

    def _ready(self) -> dict[Hit, list[Payment]]:
        """Planned rows that can be sent now, one of each submission."""
        planned = Payment.objects.filter(environment=self.recruiter.environment, state=WriteState.PLANNED)
        rows = planned.exclude(kind=PaymentKind.REWARD).select_related("assignment__hit", "assignment__person")
        still_open = dict(
            BonusAttempt.objects.filter(outcome=AttemptOutcome.OPEN).values_list("assignment_id", "payment_id")
        )
        ready: dict[Hit, list[Payment]] = {}
        for row in list(rows.order_by("pk")):
            hit, before = row.assignment.hit, still_open.get(row.assignment_id)
            if before not in (None, row.pk):
                continue
            if why := Bonus(self.recruiter, row).waits_for():
                self.report.remark(f"{row}: {why}")
            elif row.assignment.person is None or hit is None:
                advance(row, WriteState.REFUSED, last_error=NOBODY)
            elif row.ask_first:
                self._patiently(lambda row=row: self._leave_forgotten(row))  # type: ignore[misc]
            else:
                ready.setdefault(hit, []).append(row)
                still_open[row.assignment_id] = -1  # the submission's turn is taken
        return ready

    def _pay(self, hit: Hit, rows: Sequence[Payment]) -> None:
        """One call for these; where they cannot be planned together, one for each half."""
        rows = [row for row in rows if not self._is_paid_by_now(row)]
        if not rows or not self._goes_on():
            return
        try:
            lines = [BonusLine(submission_id=_submission(row), amount_cents=row.amount_cents) for row in rows]
            plan = self.calls.plan(hit.hit_id, lines)
        except KeysRefused:
            raise
        except RecruiterUnavailable as error:
            self.in_vain += 1
            self.report.remark(error.message)
            return
        except RecruiterError as error:
            if len(rows) > 1:
                for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
                    self._pay(hit, half)
                return
            self.report.remark(f"{rows[0]}: {error.message}")
            if not isinstance(error, InsufficientFunds):
                advance(rows[0], WriteState.REFUSED, last_error=error.message[:500])
            return
        unexplained = [row for row in rows if _unexplained(row, plan.listed[_submission(row)])]
        for row in unexplained:
            listed = plan.listed[_submission(row)]
            shown = ", ".join(money.shown(cents, row.currency) for cents in _unexplained(row, listed).elements())
            park(row, UNEXPLAINED.format(listed=shown), listed)
        if unexplained:  # a plan pays nobody: the others get one of their own
            self._pay(hit, [row for row in rows if row not in unexplained])
            return
        call = self._commit(hit, rows, plan) if self.is_ours() else None
        if call is not None:
            self._send(call)

    def _leave_forgotten(self, row: Payment) -> None:
        park(row, FORGOTTEN, self.calls.listed(_submission(row)))

    def _is_paid_by_now(self, row: Payment) -> bool:
        """A person wants it paid again: if the earlier attempt shows after all, there is nothing left to pay."""
        earlier = row.bonus_attempts.filter(outcome=AttemptOutcome.OPEN).select_related("call", "assignment").first()
        if earlier is None:
            return False
        is_answered = self._patiently(lambda: self._look(earlier))
        row.refresh_from_db()
        return not is_answered or row.state != WriteState.PLANNED

    def _commit(self, hit: Hit, rows: Sequence[Payment], plan: BonusPlan) -> BonusCall | None:
        """Rows and what was listed before the call; None where somebody else has taken or stopped one of them."""
        now = clock.now()
        try:
            with transaction.atomic():
                call = BonusCall.objects.create(
                    environment=self.recruiter.environment,
                    hit=hit,
                    plan_id=plan.plan_id,
                    sent_at=now,
                    balance_before_cents=plan.standing.balance_cents,
                    bonuses_before_cents=plan.standing.bonuses_cents,
                )
                for row in rows:
                    self._commit_line(call, row, plan.listed[_submission(row)], now)
        except IllegalTransition:
            return None
        return call

    def _commit_line(self, call: BonusCall, row: Payment, listed: Sequence[int], now: datetime) -> None:
        sent = {"first_sent_at": row.first_sent_at or now, "attempts": row.attempts + 1, "last_error": ""}
        advance(row, WriteState.SENDING, **sent)
        row.bonus_attempts.filter(outcome=AttemptOutcome.OPEN).update(outcome=AttemptOutcome.GIVEN_UP)
        BonusAttempt.objects.create(
            call=call,
            payment=row,
            number=row.bonus_attempts.count() + 1,
            assignment=row.assignment,
            listed_before=list(listed),
            look_at=now + LOOKS[0],
        )

    def _send(self, call: BonusCall) -> None:
        """Once. Only an answer that says that nothing was done takes the rows back."""
        count_send(call.environment)
        try:
            self.calls.pay(call.plan_id)
        except OutcomeUnknown as error:
            _answered(call, CallAnswer.UNKNOWN)
            self.report.remark(error.message)
        except (KeysRefused, RecruiterUnavailable, InsufficientFunds) as error:
            _take_back(call, WriteState.PLANNED, error.message)
            if isinstance(error, KeysRefused):
                raise
            self.in_vain += 1
            self.report.remark(error.message)
        except RecruiterError as error:
            _take_back(call, WriteState.REFUSED, error.message)
            self.report.remark(error.message)
        else:
            self.in_vain = 0
            _answered(call, CallAnswer.ACCEPTED)


@transaction.atomic
def learn(attempt: BonusAttempt, listed: Sequence[int]) -> None:
    """Store what the recruiter lists, and what follows: it is paid, or it has been looked for long enough."""
    payment = Payment.objects.select_for_update().get(pk=attempt.payment_id)
    locked = BonusAttempt.objects.select_for_update(of=("self",)).select_related("call", "payment").get(pk=attempt.pk)
    if locked.outcome:
        return
    now = clock.now()
    locked.listed, locked.looks = list(listed), locked.looks + 1
    locked.look_at = _next_look(locked, payment, now)
    if locked.is_proved_by(Counter(listed)):
        locked.outcome = AttemptOutcome.PROVED
        advance(payment, WriteState.CONFIRMED, confirmed_at=now, last_error="", missed_at=None)
        RecruiterAccount.objects.filter(environment=payment.environment, bonus_proved_at=None).update(
            bonus_proved_at=now
        )
    elif payment.state == WriteState.SENDING and now - locked.call.sent_at >= evidence_wait():
        park(payment, UNPROVED)
    locked.save(update_fields=["listed", "looks", "look_at", "outcome"])


def park(payment: Payment, why: str, listed: Sequence[int] | None = None) -> None:
    """Leave it to a person. `listed`: what the recruiter lists, of one that was never sent."""
    seen = {} if listed is None else {"listed": list(listed)}
    advance(payment, WriteState.PARKED, last_error=why, **seen)
    study = payment.campaign.study.slug
    record(action="park", subject=f"payment:{payment.pk}", study=study, cents=payment.amount_cents, why=why)


def _next_look(attempt: BonusAttempt, payment: Payment, now: datetime) -> datetime:
    if payment.state == WriteState.PARKED:
        return now + PARKED_EVERY
    later = next((wait for wait in LOOKS if attempt.call.sent_at + wait > now), None)
    end = attempt.call.sent_at + evidence_wait()
    planned = attempt.call.sent_at + later if later else now + LOOK_EVERY
    return end if now < end < planned else planned


def _answered(call: BonusCall, answer: CallAnswer) -> None:
    BonusCall.objects.filter(pk=call.pk).update(answer=answer)


@transaction.atomic
def _take_back(call: BonusCall, to: WriteState, why: str) -> None:
    """Nothing was paid: planned again, or refused."""
    _answered(call, CallAnswer.REFUSED)
    for attempt in call.attempts.select_related("payment"):
        advance(attempt.payment, to, last_error=why[:500])
    call.attempts.update(outcome=AttemptOutcome.NOT_SENT)


def _unexplained(row: Payment, listed: Sequence[int]) -> Counter[int]:
    """Cents that the recruiter lists and that nothing here explains: no payment that is known to have arrived, no
    difference that a person has explained, and no look of the person who has this one paid."""
    of_submission = Payment.objects.filter(assignment=row.assignment_id)
    paid = of_submission.filter(kind__in=EXTRAS, state=WriteState.CONFIRMED).values_list("amount_cents", flat=True)
    explained = Difference.objects.filter(
        assignment=row.assignment_id, state__in=(DifferenceState.EXPLAINED, DifferenceState.NOT_OURS)
    )
    theirs = [cents for cents in explained.values_list("theirs_cents", flat=True) if cents]
    known: Counter[int] = Counter([*paid, *theirs])
    seen: Counter[int] = Counter(row.listed or ())
    return Counter(listed) - (known | seen)


def _submission(row: Payment) -> str:
    return row.assignment.assignment_id
