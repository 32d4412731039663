"""Requesters, their keys and their money; workers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import BigIntegerField, F, Q, Sum

from humanexp.sites.marketplace.errors import UnrecognizedClient, WorkerDoesNotExist
from humanexp.sites.marketplace.models.accounts import Requester, RequesterKey, Worker
from humanexp.sites.marketplace.models.assignments import (
    Assignment,
    is_accepted,
    is_approved,
    is_rejected,
    is_submitted,
    is_taking_a_place,
)
from humanexp.sites.marketplace.models.hits import HIT
from humanexp.sites.marketplace.models.qualifications import WorkerBlock
from humanexp.sites.rows import first_or


@dataclass(frozen=True, kw_only=True)
class Balance:
    """A requester's money in cents, at one moment."""

    deposited: int
    #: Rewards of approved assignments, bonuses, and the fees on both.
    paid: int
    #: What open places, people at work and waiting submissions may still cost.
    on_hold: int

    @property
    def available(self) -> int:
        """Not yet paid out."""
        return self.deposited - self.paid

    @property
    def free(self) -> int:
        """Available, and promised to nobody: the most that a new HIT or a bonus can cost."""
        return self.available - self.on_hold


#: Of an assignment, as it was promised; of a bonus; of a place of a HIT.
_PROMISED = F("reward_cents") + F("fee_cents")
_PROMISED_BONUS = F("amount_cents") + F("fee_cents")
_COST = F("hit_type__reward_cents") + F("fee_cents")
_COST_OF_HIT = F("hit__hit_type__reward_cents") + F("hit__fee_cents")


def active_key(access_key_id: str) -> RequesterKey:
    return first_or(
        RequesterKey.objects.select_related("requester").filter(access_key_id=access_key_id, is_active=True),
        UnrecognizedClient(),
    )


def balance_of(requester: Requester, now: datetime) -> Balance:
    """Computed from the facts every time, so that an approval by time is in it; one pass over the assignments.

    Places still open are on hold while a HIT can be taken; people at work and submissions always.
    """
    deposited = requester.deposits.aggregate(cents=Sum("amount_cents"))["cents"] or 0
    bonuses = requester.bonus_payments.aggregate(cents=Sum(_PROMISED_BONUS))["cents"] or 0
    offered = HIT.objects.filter(requester=requester, disposed_at=None, expires_at__gt=now)
    places = offered.aggregate(cents=Sum(F("max_assignments") * _COST, output_field=BigIntegerField()))["cents"] or 0
    can_be_taken = Q(hit__disposed_at=None, hit__expires_at__gt=now)
    done = Assignment.objects.filter(hit__requester=requester).aggregate(
        paid=Sum(_PROMISED, filter=is_approved(now)),
        waiting=Sum(_PROMISED, filter=(is_accepted(now) | is_submitted(now)) & Q(hit__disposed_at=None)),
        taken=Sum(_COST_OF_HIT, filter=is_taking_a_place(now) & can_be_taken),
    )
    paid, waiting, taken = (done[name] or 0 for name in ("paid", "waiting", "taken"))
    return Balance(deposited=deposited, paid=paid + bonuses, on_hold=places - taken + waiting)


def worker_by_id(worker_id: str) -> Worker:
    return first_or(
        Worker.objects.filter(worker_id=worker_id), WorkerDoesNotExist(f"Worker {worker_id} does not exist.")
    )


def is_known_to(requester: Requester, worker: Worker, now: datetime) -> bool:
    """Whether the requester has approved or rejected work of this worker."""
    theirs = worker.assignments.filter(hit__requester=requester)
    return theirs.filter(is_rejected() | is_approved(now)).exists()


def is_blocked_by(requester: Requester, worker: Worker) -> bool:
    return WorkerBlock.objects.filter(requester=requester, worker=worker).exists()
