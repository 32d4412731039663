"""Workers and requesters: their accounts, keys, money and passwords, and what they write to each other."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.hashers import ScryptPasswordHasher
from django.db import transaction
from django.db.models import BigIntegerField, F, Q, Sum

from humanexp.sites.marketplace.errors import (
    BadPayout,
    NameTaken,
    NotFound,
    SignUpRefused,
    TooManyInquiries,
    UnrecognizedClient,
    WorkerDoesNotExist,
)
from humanexp.sites.marketplace.models.people import (
    Account,
    Deposit,
    Inquiry,
    Invitation,
    Message,
    Payout,
    Requester,
    RequesterKey,
    Worker,
    WorkerBlock,
)
from humanexp.sites.marketplace.models.work import (
    HIT,
    Assignment,
    HITType,
    is_accepted,
    is_approved,
    is_rejected,
    is_submitted,
    is_taking_a_place,
)
from humanexp.sites.marketplace.money import cents_to_dollars
from humanexp.sites.marketplace.work import owed_cents
from humanexp.sites.rows import change, first_or


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


@transaction.atomic
def sign_up(
    *,
    username: str,
    password: str,
    country: str = "",
    is_adult: bool = False,
    invitation: str = "",
    now: datetime,
) -> Worker:
    """A new worker. The form has checked the name and the password; an invitation is used up."""
    if settings.MARKETPLACE_SIGN_UP == "closed":
        raise SignUpRefused
    account = Account(username=username, joined_at=now)
    account.set_password(password)
    account.save()
    worker = Worker.objects.create(account=account, country=country, is_adult=is_adult)
    if settings.MARKETPLACE_SIGN_UP == "invite":
        used = Invitation.objects.filter(code=invitation, used_at=None).update(used_at=now, used_by=worker)
        if not used:
            raise SignUpRefused("This invitation has been used, or never was one.")
    return worker


@transaction.atomic
def invite(*, count: int, note: str, now: datetime) -> list[Invitation]:
    """Codes, each for one person."""
    return [Invitation.objects.create(note=note, made_at=now) for _ in range(count)]


@transaction.atomic
def record_payout(*, worker: Worker, amount_cents: int, way: str, note: str, now: datetime) -> Payout:
    """The lab has paid this much out in its own way; never more than is owed."""
    Worker.objects.select_for_update().get(pk=worker.pk)
    owed = owed_cents(worker, now)
    if not 0 < amount_cents <= owed:
        raise BadPayout(
            f"Worker {worker.worker_id} is owed {cents_to_dollars(owed)} dollars; {cents_to_dollars(amount_cents)} "
            "cannot be paid out."
        )
    return Payout.objects.create(worker=worker, amount_cents=amount_cents, way=way, note=note, paid_at=now)


@transaction.atomic
def mark_as_master(*, worker: Worker, is_master: bool) -> Worker:
    """Work that asks for masters is shown to those alone whom the desk has marked."""
    return change(worker, is_master=is_master)


@transaction.atomic
def make_clerk(*, username: str, now: datetime) -> str:
    """An account that sees the desk's page, or a new password for it; it is no worker's."""
    account, _ = Account.objects.get_or_create(username=username, defaults={"joined_at": now, "is_clerk": True})
    if not account.is_clerk:
        raise NameTaken(f"The name {username!r} is already taken.")
    return _new_password(account)


def _new_password(account: Account) -> str:
    password = secrets.token_urlsafe(12)
    account.set_password(password)
    account.save(update_fields=["password"])
    return password


@transaction.atomic
def deposit(*, requester: Requester, amount_cents: int, now: datetime) -> Deposit:
    """Money paid in by whatever way the lab has."""
    return Deposit.objects.create(requester=requester, amount_cents=amount_cents, made_at=now)


@transaction.atomic
def create_requester(*, name: str, balance_cents: int, now: datetime) -> tuple[RequesterKey, bool]:
    """The key of a new requester with a first deposit, and True; the same name again: the same key, and no money."""
    existing = Requester.objects.filter(name=name).first()
    if existing is not None:
        key = existing.keys.filter(is_active=True).order_by("pk").first()
        return key or RequesterKey.objects.create(requester=existing, created_at=now), False
    account = Account(username=f"requester/{name}", joined_at=now)  # the slash: no worker can sign up as this
    account.set_unusable_password()
    account.save()
    requester = Requester.objects.create(account=account, name=name)
    deposit(requester=requester, amount_cents=balance_cents, now=now)
    return RequesterKey.objects.create(requester=requester, created_at=now), True


@transaction.atomic
def reset_password(*, username: str) -> str:
    """A new password for somebody who has forgotten theirs; it is shown once."""
    accounts = Account.objects.filter(username=username, worker__isnull=False)
    return _new_password(first_or(accounts, NotFound(f"There is no worker named {username!r}.")))


@transaction.atomic
def replace_keys(*, name: str, now: datetime) -> RequesterKey:
    """A new key; every older one of this requester stops working."""
    named = Requester.objects.filter(name=name)
    requester = first_or(named, NotFound(f"There is no requester named {name!r}."))
    requester.keys.update(is_active=False)
    return RequesterKey.objects.create(requester=requester, created_at=now)


#: Of one worker, in a day.
_DAILY = 20


@transaction.atomic
def ask_requester(*, worker: Worker, hit_type: HITType, subject: str, text: str, now: datetime) -> Inquiry:
    if worker.inquiries.filter(sent_at__gt=now - timedelta(days=1)).count() >= _DAILY:
        raise TooManyInquiries
    return Inquiry.objects.create(
        requester=hit_type.requester, worker=worker, hit_type=hit_type, subject=subject, text=text, sent_at=now
    )


@transaction.atomic
def answer(*, inquiry: Inquiry, text: str, now: datetime) -> Message:
    """Lands on the worker's messages page."""
    change(inquiry, answered_at=now)
    subject = f"Re: {inquiry.subject}"[:250]
    return send_message(sender=inquiry.requester, worker=inquiry.worker, subject=subject, text=text, now=now)


@transaction.atomic
def notify_workers(
    *, requester: Requester, subject: str, text: str, worker_ids: Sequence[str], now: datetime
) -> dict[str, str]:
    """Only workers whose work this requester has judged get it; why the others do not, by worker id."""
    undelivered = {}
    for worker_id in dict.fromkeys(worker_ids):
        try:
            worker = worker_by_id(worker_id)
        except WorkerDoesNotExist as err:
            undelivered[worker_id] = err.message
            continue
        if not is_known_to(requester, worker, now):
            undelivered[worker_id] = "You have not approved or rejected work of this worker."
            continue
        send_message(sender=requester, worker=worker, subject=subject, text=text, now=now)
    return undelivered


def send_message(*, sender: Requester, worker: Worker, subject: str, text: str, now: datetime) -> Message:
    return Message.objects.create(worker=worker, sender=sender, subject=subject, text=text, sent_at=now)


@transaction.atomic
def block(*, requester: Requester, worker_id: str, reason: str, now: datetime) -> WorkerBlock:
    """Twice equals once; the later reason stands."""
    made, _ = WorkerBlock.objects.update_or_create(
        requester=requester,
        worker=worker_by_id(worker_id),
        defaults={"reason": reason},
        create_defaults={"reason": reason, "blocked_at": now},
    )
    return made


@transaction.atomic
def unblock(*, requester: Requester, worker_id: str) -> None:
    """A worker who was not blocked is not blocked afterwards."""
    requester.worker_blocks.filter(worker=worker_by_id(worker_id)).delete()


class InteractiveScryptHasher(ScryptPasswordHasher):
    """scrypt as its author advises for logins (16 MiB, some 40 ms): a lab's sixty workers sign up within seconds.

    Django's own runs five such passes one after the other.
    """

    parallelism = 1
