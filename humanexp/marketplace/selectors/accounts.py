"""Requesters, their keys and their money; workers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q, Sum

from humanexp.marketplace.errors import UnrecognizedClient, WorkerDoesNotExist
from humanexp.marketplace.models import HIT, Assignment, Requester, RequesterKey, Worker, WorkerBlock
from humanexp.marketplace.models.assignments import is_accepted, is_submitted


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


def active_key(access_key_id: str) -> RequesterKey:
    key = RequesterKey.objects.select_related("requester").filter(access_key_id=access_key_id, is_active=True).first()
    if key is None:
        raise UnrecognizedClient
    return key


def balance_of(requester: Requester, now: datetime) -> Balance:
    """Computed from the facts every time, so that an approval by time is in it."""
    deposited = requester.deposits.aggregate(cents=Sum("amount_cents"))["cents"] or 0
    rewards = (
        Assignment.objects.approved(now)
        .filter(hit__requester=requester)
        .aggregate(cents=Sum(F("reward_cents") + F("fee_cents")))["cents"]
        or 0
    )
    bonuses = requester.bonus_payments.aggregate(cents=Sum(F("amount_cents") + F("fee_cents")))["cents"] or 0
    return Balance(deposited=deposited, paid=rewards + bonuses, on_hold=_on_hold(requester, now))


def _on_hold(requester: Requester, now: datetime) -> int:
    """Places still open count while a HIT can be taken; people at work and submissions always."""
    hits = HIT.objects.filter(requester=requester).select_related(None).counted(now).open(now)
    places: int = sum(
        available * cost
        for available, cost in hits.values_list("n_available", F("hit_type__reward_cents") + F("fee_cents"))
    )
    taken = Assignment.objects.filter(
        Q(is_accepted(now)) | Q(is_submitted(now)), hit__requester=requester, hit__disposed_at=None
    )
    promised: int = taken.aggregate(cents=Sum(F("reward_cents") + F("fee_cents")))["cents"] or 0
    return places + promised


def worker_by_id(worker_id: str) -> Worker:
    worker = Worker.objects.filter(worker_id=worker_id).first()
    if worker is None:
        raise WorkerDoesNotExist(f"Worker {worker_id} does not exist.")
    return worker


def is_known_to(requester: Requester, worker: Worker, now: datetime) -> bool:
    """Whether the requester has approved or rejected work of this worker."""
    theirs = worker.assignments.filter(hit__requester=requester)
    return theirs.rejected().exists() or theirs.approved(now).exists()


def is_blocked_by(requester: Requester, worker: Worker) -> bool:
    return WorkerBlock.objects.filter(requester=requester, worker=worker).exists()
