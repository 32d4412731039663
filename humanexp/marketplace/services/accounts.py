"""Making accounts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from humanexp.marketplace.models import Account, Deposit, Requester, RequesterKey, Worker


@dataclass(frozen=True, kw_only=True)
class RequesterAccount:
    requester: Requester
    key: RequesterKey
    #: False when the name was there already; nothing was changed then.
    is_new: bool


@transaction.atomic
def sign_up(
    *,
    username: str,
    password: str,
    country: str = "",
    subdivision: str = "",
    is_adult: bool = False,
    now: datetime,
) -> Worker:
    """A new worker. The form has checked the name and the password."""
    account = Account(username=username, joined_at=now)
    account.set_password(password)
    account.save()
    return Worker.objects.create(account=account, country=country, subdivision=subdivision, is_adult=is_adult)


@transaction.atomic
def deposit(*, requester: Requester, amount_cents: int, now: datetime) -> Deposit:
    """Money paid in by whatever way the lab has."""
    return Deposit.objects.create(requester=requester, amount_cents=amount_cents, made_at=now)


@transaction.atomic
def create_requester(*, name: str, balance_cents: int, now: datetime) -> RequesterAccount:
    """A requester with a key and a first deposit; the same name again gives the same key and no money."""
    existing = Requester.objects.filter(name=name).first()
    if existing is not None:
        key = existing.keys.filter(is_active=True).order_by("pk").first()
        if key is None:
            key = RequesterKey.objects.create(requester=existing, created_at=now)
        return RequesterAccount(requester=existing, key=key, is_new=False)
    account = Account(username=f"requester/{name}", joined_at=now)  # the slash: no worker can sign up as this
    account.set_unusable_password()
    account.save()
    requester = Requester.objects.create(account=account, name=name)
    deposit(requester=requester, amount_cents=balance_cents, now=now)
    key = RequesterKey.objects.create(requester=requester, created_at=now)
    return RequesterAccount(requester=requester, key=key, is_new=True)
