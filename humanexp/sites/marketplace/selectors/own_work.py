"""A worker's own work: in hand, done and paid, and the messages about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Prefetch, QuerySet, Sum

from humanexp.sites.marketplace.errors import NotFound
from humanexp.sites.marketplace.models.accounts import Payout, Worker
from humanexp.sites.marketplace.models.assignments import Assignment, BonusPayment, is_accepted, is_approved
from humanexp.sites.marketplace.models.hits import HIT
from humanexp.sites.marketplace.models.requests import Message
from humanexp.sites.marketplace.states import AssignmentState
from humanexp.sites.rows import first_or


@dataclass(frozen=True, kw_only=True)
class Earning:
    """One assignment on the earnings page."""

    assignment: Assignment
    state: AssignmentState
    reward_cents: int
    bonus_cents: int
    bonus_reasons: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Earnings:
    rows: tuple[Earning, ...]
    approved_cents: int
    bonus_cents: int
    waiting_cents: int
    #: Handed over by the lab, the newest first.
    payouts: tuple[Payout, ...]

    @property
    def paid_out_cents(self) -> int:
        return sum(payout.amount_cents for payout in self.payouts)

    @property
    def total_cents(self) -> int:
        return self.approved_cents + self.bonus_cents

    @property
    def owed_cents(self) -> int:
        return self.total_cents - self.paid_out_cents


def own_assignment(worker: Worker, assignment_id: str) -> Assignment:
    return first_or(
        Assignment.objects.select_related("hit__hit_type", "hit__requester", "worker").filter(
            worker=worker, assignment_id=assignment_id
        ),
        NotFound(),
    )


def hit_of_assignment(assignment_id: str) -> HIT:
    named = Assignment.objects.select_related("hit__hit_type").filter(assignment_id=assignment_id)
    return first_or(named, NotFound()).hit


def work_in_hand(worker: Worker, now: datetime) -> QuerySet[Assignment]:
    """Accepted and not yet submitted, most urgent first."""
    return (
        Assignment.objects.filter(is_accepted(now), worker=worker)
        .select_related("hit__hit_type", "hit__requester", "worker")
        .order_by("deadline_at")
    )


def earnings_of(worker: Worker, now: datetime) -> Earnings:
    """Every submission of this worker, newest first, and the sums."""
    assignments = (
        Assignment.objects.filter(worker=worker, submitted_at__isnull=False)
        .select_related("hit__hit_type", "hit__requester")
        .prefetch_related(Prefetch("bonus_payments", queryset=BonusPayment.objects.order_by("pk")))
        .order_by("-submitted_at", "-pk")
    )
    rows = tuple(_earning(assignment, now) for assignment in assignments)
    return Earnings(
        rows=rows,
        approved_cents=sum(row.reward_cents for row in rows if row.state is AssignmentState.APPROVED),
        bonus_cents=sum(row.bonus_cents for row in rows),
        waiting_cents=sum(row.reward_cents for row in rows if row.state is AssignmentState.SUBMITTED),
        payouts=tuple(worker.payouts.order_by("-paid_at", "-pk")),
    )


def owed_cents(worker: Worker, now: datetime) -> int:
    """Approved rewards and bonuses, less what was paid out."""
    rewards = _sum(Assignment.objects.filter(is_approved(now), worker=worker), "reward_cents")
    bonuses = _sum(worker.bonus_payments.all(), "amount_cents")
    return rewards + bonuses - _sum(worker.payouts.all(), "amount_cents")


@dataclass(frozen=True, kw_only=True)
class DeskSums:
    """Of the whole marketplace."""

    owed_cents: int
    paid_out_cents: int
    #: what this house keeps of requesters' deposits, as its settings say
    fee_cents: int


def desk_sums(now: datetime) -> DeskSums:
    approved, bonuses = Assignment.objects.filter(is_approved(now)), BonusPayment.objects.all()
    paid_out = _sum(Payout.objects.all(), "amount_cents")
    return DeskSums(
        owed_cents=_sum(approved, "reward_cents") + _sum(bonuses, "amount_cents") - paid_out,
        paid_out_cents=paid_out,
        fee_cents=_sum(approved, "fee_cents") + _sum(bonuses, "fee_cents"),
    )


def latest_payouts(count: int) -> QuerySet[Payout]:
    return Payout.objects.select_related("worker__account").order_by("-paid_at", "-pk")[:count]


def everybody_owed(now: datetime) -> list[tuple[Worker, int]]:
    """Workers to whom something is owed, most first."""
    rewards, bonuses, payouts = (
        dict(rows.values_list("worker").annotate(cents=Sum(field)))
        for rows, field in (
            (Assignment.objects.filter(is_approved(now)).order_by(), "reward_cents"),
            (BonusPayment.objects.order_by(), "amount_cents"),
            (Payout.objects.order_by(), "amount_cents"),
        )
    )
    workers = Worker.objects.select_related("account").in_bulk({*rewards, *bonuses})
    owed = [(worker, rewards.get(pk, 0) + bonuses.get(pk, 0) - payouts.get(pk, 0)) for pk, worker in workers.items()]
    return sorted(((worker, cents) for worker, cents in owed if cents), key=lambda row: -row[1])


def _sum(rows: QuerySet[Any], field: str) -> int:
    total: int = rows.aggregate(cents=Sum(field))["cents"] or 0
    return total


def _earning(assignment: Assignment, now: datetime) -> Earning:
    bonuses = list(assignment.bonus_payments.all())
    return Earning(
        assignment=assignment,
        state=assignment.state(now),
        reward_cents=assignment.reward_cents,
        bonus_cents=sum(bonus.amount_cents for bonus in bonuses),
        bonus_reasons=tuple(bonus.reason for bonus in bonuses),
    )


def messages_to(worker: Worker) -> QuerySet[Message]:
    return worker.messages.select_related("sender").order_by("-sent_at", "-pk")
