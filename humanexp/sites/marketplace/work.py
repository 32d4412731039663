"""Work as each side sees it: a requester's HITs, assignments and bonuses; a worker's own work and earnings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.core import signing
from django.db.models import Prefetch, QuerySet, Sum
from django.urls import reverse

from humanexp.sites.marketplace.errors import AssignmentDoesNotExist, HITDoesNotExist, HITTypeDoesNotExist, NotFound
from humanexp.sites.marketplace.models.people import Message, Payout, Requester, Worker
from humanexp.sites.marketplace.models.work import (
    HIT,
    Assignment,
    BonusPayment,
    HITQuerySet,
    HITType,
    UploadedFile,
    is_accepted,
    is_approved,
    is_rejected,
    is_submitted,
)
from humanexp.sites.marketplace.states import AssignmentState
from humanexp.sites.rows import first_or

#: As long as the real service's addresses work.
_SECONDS = 60
_SALT = "uploaded-file"


def hit_type_of(requester: Requester, hit_type_id: str) -> HITType:
    return first_or(
        HITType.objects.filter(requester=requester, hit_type_id=hit_type_id),
        HITTypeDoesNotExist(f"Hit type {hit_type_id} does not exist."),
    )


def hit_types_asking_for(requester: Requester, qualification_type_id: str) -> list[int]:
    """Keys of the types of which a requirement names this qualification type."""
    types = HITType.objects.filter(requester=requester).values_list("pk", "requirements")
    return [
        pk
        for pk, requirements in types
        if any(one["QualificationTypeId"] == qualification_type_id for one in requirements)
    ]


def hits_of(requester: Requester, now: datetime) -> HITQuerySet:
    return HIT.objects.filter(requester=requester).counted(now)


def hit_of(requester: Requester, hit_id: str, now: datetime) -> HIT:
    return first_or(hits_of(requester, now).filter(hit_id=hit_id), HITDoesNotExist(f"Hit {hit_id} does not exist."))


def assignment_of(requester: Requester, assignment_id: str) -> Assignment:
    return first_or(
        Assignment.objects.select_related("worker", "hit__hit_type", "hit__requester").filter(
            hit__requester=requester, assignment_id=assignment_id
        ),
        AssignmentDoesNotExist(f"Assignment {assignment_id} does not exist."),
    )


def listed_assignments(hit: HIT, states: list[str], now: datetime) -> QuerySet[Assignment]:
    """Submitted, approved and rejected ones, in these states."""
    conditions = {
        AssignmentState.SUBMITTED: is_submitted(now),
        AssignmentState.APPROVED: is_approved(now),
        AssignmentState.REJECTED: is_rejected(),
    }
    assignments = Assignment.objects.select_related("worker", "hit").filter(hit=hit, submitted_at__isnull=False)
    if not states:
        return assignments
    return assignments.filter(reduce(or_, (condition for state, condition in conditions.items() if state in states)))


def bonus_payments_of(requester: Requester) -> QuerySet[BonusPayment]:
    return BonusPayment.objects.filter(requester=requester).select_related("worker", "assignment")


def upload_link(uploaded: UploadedFile) -> str:
    return reverse("upload", args=[signing.dumps(uploaded.key, salt=_SALT)])


def upload_behind(token: str) -> UploadedFile:
    try:
        key = signing.loads(token, salt=_SALT, max_age=_SECONDS)
    except signing.BadSignature as err:
        raise NotFound("This address has expired, or was never given out.") from err
    return first_or(UploadedFile.objects.filter(key=key), NotFound())


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
