"""Money of a workspace: what payments cost, what is locked, rewards and bonuses; one call at a time moves it."""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from django.db.models import Count, Q, QuerySet, Sum

from humanexp.sites.panel.errors import Refused, short_of_money
from humanexp.sites.panel.models import BonusPlan, Payment, Study, Submission, Switches, Workspace
from humanexp.sites.panel.states import DRAFTS, OPEN, PENDING, SubmissionStatus
from humanexp.sites.rows import change

#: Of the amount: 33.3 % for academic and non-profit users, 42.8 % for others.
_ACADEMIC, _OTHERS = Fraction(1, 3), Fraction(428, 1000)
#: Sub-units an hour, by currency.
LEAST_PER_HOUR = {"GBP": 600, "USD": 800}
RECOMMENDED_PER_HOUR = {"GBP": 900, "USD": 1200}


@dataclass(frozen=True)
class Cost:
    amount: int = 0
    fees: int = 0
    vat: int = 0

    @property
    def total(self) -> int:
        return self.amount + self.fees + self.vat

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.amount + other.amount, self.fees + other.fees, self.vat + other.vat)

    def __mul__(self, times: int) -> Cost:
        return Cost(self.amount * times, self.fees * times, self.vat * times)


def cost_of(amount_cents: int, *, is_academic: bool, vat_percent: int) -> Cost:
    """Of one payment; fractions are rounded up, so that every payment has its whole fee."""
    fees = -int(-amount_cents * (_ACADEMIC if is_academic else _OTHERS) // 1)
    return Cost(amount_cents, fees, -(-fees * vat_percent // 100))


def shares_of(total: int, *, is_academic: bool, vat_percent: int) -> Cost:
    """A balance as the largest amount that it pays for, its fee, and the rest."""
    rate = _ACADEMIC if is_academic else _OTHERS
    amount = int(total / (1 + rate * (1 + Fraction(vat_percent, 100))))
    fees = int(amount * rate)
    return Cost(amount, fees, total - amount - fees)


_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


@contextmanager
def wallet(owner: str) -> Iterator[None]:
    """For the length of a call; without an owner there is nothing to wait for."""
    if not owner:
        yield
        return
    if not _locks[owner].acquire(blocking=False):
        raise Refused(429, "Too many requests", "Another payment of this account is in progress.", code=140_429)
    try:
        time.sleep(Switches.current().wallet_s)
        yield
    finally:
        _locks[owner].release()


@dataclass(frozen=True, kw_only=True)
class Balance:
    """`deposited` = `paid` + `locked` + `available`, always."""

    deposited: int
    paid: int
    locked: int

    @property
    def total(self) -> int:
        return self.deposited - self.paid

    @property
    def available(self) -> int:
        return self.total - self.locked


def cost_in(workspace: Workspace, amount_cents: int) -> Cost:
    return cost_of(amount_cents, is_academic=workspace.is_academic, vat_percent=workspace.vat_percent)


def least_hourly_cents(currency: str) -> int:
    return Switches.current().least_hourly_cents or LEAST_PER_HOUR[currency]


def sum_of(payments: QuerySet[Payment]) -> Cost:
    summed = payments.aggregate(amount=Sum("amount_cents"), fees=Sum("fee_cents"), vat=Sum("vat_cents"))
    return Cost(*(summed[name] or 0 for name in ("amount", "fees", "vat")))


def balance(workspace: Workspace) -> Balance:
    payments = Payment.objects.filter(submission__study__project__workspace=workspace)
    studies = (
        Study.objects.filter(project__workspace=workspace)
        .exclude(status__in=DRAFTS)
        .annotate(
            pending=Count("submissions", filter=Q(submissions__status__in=PENDING)),
            approved=Count("submissions", filter=Q(submissions__status=SubmissionStatus.APPROVED)),
        )
    )
    locked = sum_of(payments.filter(paid_at=None, due_at__isnull=False)).total
    for study in studies:
        unpaid = max(study.places - study.approved, study.pending) if study.status in OPEN else study.pending
        locked += cost_in(workspace, study.reward_cents).total * unpaid
    return Balance(
        deposited=workspace.deposits.aggregate(sum=Sum("amount_cents"))["sum"] or 0,
        paid=sum_of(payments.filter(paid_at__isnull=False)).total,
        locked=locked,
    )


def study_cost(study: Study, *, is_projected: bool) -> tuple[Cost, Cost]:
    """Rewards and bonuses: paid, or rewards as if every place were paid."""
    paid = Payment.objects.filter(submission__study=study, paid_at__isnull=False)
    rewards = sum_of(paid.filter(plan=None))
    if is_projected:
        rewards = cost_in(study.project.workspace, study.reward_cents) * study.places
    return rewards, sum_of(paid.filter(plan__isnull=False))


def require_solvent(workspace: Workspace) -> None:
    """After a change that costs or locks money: refused, and rolled back by the caller, if there is not enough."""
    available = balance(workspace).available
    if available < 0:
        raise short_of_money(-available)


def reward(submission: Submission, now: datetime) -> Payment:
    return Payment.objects.create(
        submission=submission, due_at=now, paid_at=now, **_amounts(submission.study, submission.study.reward_cents)
    )


def plan_bonuses(study: Study, lines: list[tuple[Submission, int]]) -> tuple[BonusPlan, Cost]:
    """Nothing is paid or locked yet."""
    plan = BonusPlan.objects.create(study=study, lines=[[one.submission_id, cents] for one, cents in lines])
    workspace = study.project.workspace
    return plan, sum((cost_in(workspace, cents) for _, cents in lines), Cost())


def pay(plan: BonusPlan, now: datetime) -> None:
    """Every line is accepted now and paid later, each at a time of its own; a second call pays everybody again."""
    switches = Switches.current()
    submissions = {one.submission_id: one for one in plan.study.submissions.all()}
    for number, (submission_id, cents) in enumerate(plan.lines):
        chance = random.Random(f"{switches.seed} {plan.plan_id} {plan.times_paid} {number}")  # noqa: S311
        Payment.objects.create(
            submission=submissions[submission_id],
            plan=plan,
            due_at=_settles_at(switches, chance, now),
            **_amounts(plan.study, cents),
        )
    change(plan, times_paid=plan.times_paid + 1)
    require_solvent(plan.study.project.workspace)


def _settles_at(switches: Switches, chance: random.Random, now: datetime) -> datetime | None:
    if chance.random() < switches.lost_share:
        return None
    if chance.random() < switches.late_share:
        return now + timedelta(minutes=chance.uniform(30, 180))
    return now + timedelta(seconds=switches.settling_s * chance.expovariate(1))


def _amounts(study: Study, amount_cents: int) -> dict[str, int]:
    cost = cost_in(study.project.workspace, amount_cents)
    return {"amount_cents": cost.amount, "fee_cents": cost.fees, "vat_cents": cost.vat}
