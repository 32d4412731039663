"""Making accounts."""

from __future__ import annotations

import secrets
from datetime import datetime

from django.conf import settings
from django.db import transaction

from humanexp.sites.marketplace.errors import BadPayout, NameTaken, NotFound, SignUpRefused
from humanexp.sites.marketplace.models.accounts import (
    Account,
    Deposit,
    Invitation,
    Payout,
    Requester,
    RequesterKey,
    Worker,
)
from humanexp.sites.marketplace.money import cents_to_dollars
from humanexp.sites.marketplace.selectors.own_work import owed_cents
from humanexp.sites.rows import change, first_or


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
