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
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from humanexp.core import clock
from humanexp.core.errors import (
    IllegalTransition,
    InsufficientFunds,
    KeysRefused,
    OutcomeUnknown,
    RecruiterError,
    RecruiterUnavailable,
)
from humanexp.core.models import record
from humanexp.ledger.deliveries import NOBODY, Bonus
from humanexp.ledger.delivery import count_send
from humanexp.ledger.models import EXTRAS, Answer, CallKind, Difference, Payment
from humanexp.ledger.outbox import Report
from humanexp.recruiters import money
from humanexp.recruiters.models import Hit, RecruiterAccount
from humanexp.recruiters.money import AccountMoney, BonusCalls, BonusLine, BonusPlan, Listing
from humanexp.recruiters.port import Recruiter
from humanexp.recruiters.states import UNSETTLED, DifferenceState, WriteState, advance

#: When the recruiter is asked after a call, and how often later on, and once a person has been asked.
LOOKS = tuple(timedelta(minutes=minutes) for minutes in (2, 5, 15, 60))
LOOK_EVERY, PARKED_EVERY = timedelta(hours=1), timedelta(hours=6)
#: So many questions in a row without an answer: nobody is there.
MOST_IN_VAIN = 3
UNPROVED = "It was sent, and nothing shows that it was paid: a person has to look."
FORGOTTEN = "This database was restored, and may have forgotten that it was sent: a person has to look."
UNEXPLAINED = "The recruiter lists {listed} for this submission, which no payment here explains: a person has to look."


T = TypeVar("T")


def evidence_wait() -> timedelta:
    return timedelta(hours=settings.BONUS_EVIDENCE_HOURS)


def unproved(environment: str) -> list[Payment]:
    """Sent bonuses that the recruiter is to be asked about now, call by call."""
    rows = Payment.objects.filter(environment=environment, look_at__lte=clock.now())
    return list(rows.select_related("assignment__hit").order_by("handle", "pk"))


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
        for (_, hit), rows in groupby(
            unproved(self.recruiter.environment), key=lambda row: (row.handle, row.assignment.hit)
        ):
            standing = self._patiently(lambda hit=hit: self.calls.standing(hit.hit_id))  # type: ignore[misc]
            for row in rows:
                if not self._goes_on():
                    return True
                self._look(row, standing)
        for hit, ready in self._ready().items():
            for first in range(0, len(ready), self.calls.most):
                if not self._goes_on():
                    return True
                self._pay(hit, ready[first : first + self.calls.most])
        return self.in_vain >= MOST_IN_VAIN

    def _goes_on(self) -> bool:
        return self.in_vain < MOST_IN_VAIN and self.is_ours()

    def _patiently(self, ask: Callable[[], T]) -> T | None:
        """The answer; None where there was none."""
        try:
            answer = ask()
        except KeysRefused:
            raise
        except RecruiterError as error:
            self.in_vain += isinstance(error, RecruiterUnavailable)
            self.report.remark(error.message)
            return None
        self.in_vain = 0
        return answer

    # Looking ----------------------------------------------------------------------------------------------------

    def _look(self, row: Payment, standing: AccountMoney | None = None) -> bool:
        """Whether there was an answer."""
        listed = self._patiently(lambda: self.calls.listed(_submission(row)))
        if listed is None:
            return False
        learn(row, Listing.now(listed, standing))
        return True

    # Sending ----------------------------------------------------------------------------------------------------

    def _ready(self) -> dict[Hit, list[Payment]]:
        """Planned rows that can be sent now, one of each submission."""
        planned = Payment.objects.filter(environment=self.recruiter.environment, state=WriteState.PLANNED)
        rows = planned.exclude(kind=CallKind.REWARD).select_related("assignment__hit", "assignment__person")
        unsettled = Payment.objects.filter(look_at__isnull=False, environment=self.recruiter.environment)
        still_open = {row.assignment_id: row.pk for row in unsettled}
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
                self._leave_forgotten(row)
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
        if self.is_ours() and self._commit(rows, plan):
            self._send(plan.plan_id)

    def _leave_forgotten(self, row: Payment) -> None:
        listed = self._patiently(lambda: self.calls.listed(_submission(row)))
        if listed is not None:
            park(row, FORGOTTEN, listed)

    def _is_paid_by_now(self, row: Payment) -> bool:
        """A person wants it paid again: if the earlier sending shows after all, there is nothing left to pay."""
        if row.look_at is None:
            return False
        is_answered = self._look(row)
        row.refresh_from_db()
        return not is_answered or row.state != WriteState.PLANNED

    def _commit(self, rows: Sequence[Payment], plan: BonusPlan) -> bool:
        """Rows and what was listed before the call; False where one of them was taken or stopped meanwhile."""
        same = Payment.objects.filter(environment=self.recruiter.environment, handle=plan.plan_id)
        if same.exists():
            self.report.remark(f"The recruiter names a call {plan.plan_id} that it has carried out before.")
            return False
        now = clock.now()
        try:
            with transaction.atomic():
                for row in rows:
                    before = Listing.now(plan.listed[_submission(row)], plan.standing, lines=len(rows))
                    advance(
                        row,
                        WriteState.SENDING,
                        first_sent_at=row.first_sent_at or now,
                        attempts=row.attempts + 1,
                        last_error="",
                        handle=plan.plan_id,
                        answer=Answer.NONE,
                        evidence_before=before.to_json(),
                        listed_after=None,
                        look_at=now + LOOKS[0],
                        given_up=[*row.given_up, *sending_of(row)],
                    )
        except IllegalTransition:
            return False
        return True

    def _send(self, plan_id: str) -> None:
        """Once. Only an answer that says that nothing was done takes the rows back."""
        rows = Payment.objects.filter(environment=self.recruiter.environment, handle=plan_id)
        count_send(self.recruiter.environment)
        try:
            self.calls.pay(plan_id)
        except OutcomeUnknown as error:
            rows.update(answer=Answer.UNKNOWN)
            self.report.remark(error.message)
        except (KeysRefused, RecruiterUnavailable, InsufficientFunds) as error:
            _take_back(rows, WriteState.PLANNED, error.message)
            if isinstance(error, KeysRefused):
                raise
            self.in_vain += 1
            self.report.remark(error.message)
        except RecruiterError as error:
            _take_back(rows, WriteState.REFUSED, error.message)
            self.report.remark(error.message)
        else:
            self.in_vain = 0
            rows.update(answer=Answer.ACCEPTED)


def sending_of(row: Payment) -> list[dict[str, Any]]:
    """What is kept of a sending that nothing has proved, when another takes its place; none where there was none."""
    before = Listing.of(row.evidence_before)
    if row.look_at is None or before is None:
        return []
    return [{"sent_at": before.at, "answer": row.answer, "lines": before.lines}]


@transaction.atomic
def learn(row: Payment, seen: Listing) -> None:
    """Store what the recruiter lists, and what follows: it is paid, or it has been looked for long enough."""
    locked = Payment.objects.select_for_update(of=("self",)).get(pk=row.pk)
    before, latest, now = Listing.of(locked.evidence_before), Listing.of(locked.listed_after), clock.now()
    if locked.look_at is None or before is None:
        return
    is_proved = seen.counted[locked.amount_cents] > before.counted[locked.amount_cents]
    is_settled = is_proved or locked.state not in UNSETTLED  # a person may have said so meanwhile
    locked.listed_after = replace(seen, looks=latest.looks + 1 if latest else 1).to_json()
    locked.look_at = None if is_settled else _next_look(locked, before.seen_at, now)
    locked.save(update_fields=["listed_after", "look_at"])
    if is_proved and locked.state in UNSETTLED:
        advance(locked, WriteState.CONFIRMED, confirmed_at=now, last_error="", missed_at=None)
        RecruiterAccount.objects.filter(environment=locked.environment, bonus_proved_at=None).update(
            bonus_proved_at=now
        )
    elif locked.state == WriteState.SENDING and now - before.seen_at >= evidence_wait():
        park(locked, UNPROVED)


def park(payment: Payment, why: str, listed: Sequence[int] | None = None) -> None:
    """Leave it to a person. `listed`: what the recruiter lists, of one that is not sent for it; what is known of an
    earlier sending stays, for that can show yet."""
    seen = {} if listed is None else {"listed_unsent": Listing.now(listed).to_json()}
    advance(payment, WriteState.PARKED, last_error=why, **seen)
    study = payment.campaign.study.slug
    record(action="park", subject=f"payment:{payment.pk}", study=study, cents=payment.amount_cents, why=why)


def _next_look(row: Payment, sent_at: datetime, now: datetime) -> datetime:
    if row.state == WriteState.PARKED:
        return now + PARKED_EVERY
    later = next((wait for wait in LOOKS if sent_at + wait > now), None)
    end = sent_at + evidence_wait()
    planned = sent_at + later if later else now + LOOK_EVERY
    return end if now < end < planned else planned


@transaction.atomic
def _take_back(rows: QuerySet[Payment], to: WriteState, why: str) -> None:
    """Nothing was paid: planned again, or refused. The plan was carried out for none of them."""
    for row in rows:
        advance(row, to, last_error=why[:500], answer=Answer.REFUSED, look_at=None, handle="")


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
    unsent = Listing.of(row.listed_unsent)
    seen = unsent.counted if unsent else Counter[int]()
    return Counter(listed) - (known | seen)


def _submission(row: Payment) -> str:
    return row.assignment.assignment_id
