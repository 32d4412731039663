"""What the lab does at its desk, as what is printed of it. To be imported after `serving.prepare`."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.conf import settings

from humanexp.sites.marketplace import accounts, clock
from humanexp.sites.marketplace.accounts import balance_of, worker_by_id
from humanexp.sites.marketplace.errors import NotFound
from humanexp.sites.marketplace.models.people import Inquiry
from humanexp.sites.marketplace.money import cents_to_dollars
from humanexp.sites.marketplace.work import everybody_owed, owed_cents
from humanexp.sites.rows import first_or


def create_requester(name: str, balance: str, deposit: str) -> dict[str, str | bool]:
    """`balance` is a new requester's first deposit; `deposit` is added every time."""
    now = clock.now()
    key, is_new = accounts.create_requester(name=name, balance_cents=_cents(balance), now=now)
    if _cents(deposit):
        accounts.deposit(requester=key.requester, amount_cents=_cents(deposit), now=now)
    return {
        "name": key.requester.name,
        "access_key_id": key.access_key_id,
        "secret_access_key": key.secret_access_key,
        "available_balance": cents_to_dollars(balance_of(key.requester, now).available),
        "created": is_new,
    }


def invite(count: int, note: str) -> list[dict[str, str]]:
    address = f"{settings.SITE_URL}/signup/?invitation="
    made = accounts.invite(count=count, note=note, now=clock.now())
    return [{"code": one.code, "link": f"{address}{one.code}"} for one in made]


def owed() -> list[dict[str, Any]]:
    """Workers to whom money is owed, most first."""
    return [
        {"worker_id": worker.worker_id, "username": worker.account.username, "owed": cents_to_dollars(cents)}
        for worker, cents in everybody_owed(clock.now())
    ]


def paid(worker_id: str, amount: str, way: str, note: str) -> dict[str, str]:
    """Write down what was paid; more than is owed is refused."""
    worker, now = worker_by_id(worker_id), clock.now()
    accounts.record_payout(worker=worker, amount_cents=_cents(amount), way=way, note=note, now=now)
    return {"worker_id": worker_id, "paid": amount, "still_owed": cents_to_dollars(owed_cents(worker, now))}


def clerk(username: str) -> dict[str, str]:
    """Somebody who writes payouts down on the desk's page; again for a new password."""
    return {"username": username, "password": accounts.make_clerk(username=username, now=clock.now()), "page": "/desk/"}


def master(worker_id: str, off: bool) -> dict[str, Any]:
    worker = accounts.mark_as_master(worker=worker_by_id(worker_id), is_master=not off)
    return {"worker_id": worker.worker_id, "is_master": worker.is_master}


def inbox(every: bool) -> list[dict[str, Any]]:
    """What workers have written; answered ones too with `every`."""
    found = Inquiry.objects.select_related("requester", "worker", "hit_type").order_by("pk")
    return [
        {
            "number": one.pk,
            "to": one.requester.name,
            "from": one.worker.worker_id,
            "about": one.hit_type.title,
            "sent_at": one.sent_at.isoformat(),
            "subject": one.subject,
            "text": one.text,
        }
        for one in (found if every else found.filter(answered_at=None))
    ]


def answer(number: int, text: str) -> dict[str, Any]:
    inquiry = first_or(
        Inquiry.objects.select_related("requester", "worker").filter(pk=number),
        NotFound(f"There is no letter number {number}."),
    )
    sent = accounts.answer(inquiry=inquiry, text=text, now=clock.now())
    return {"to": inquiry.worker.worker_id, "sent_at": sent.sent_at.isoformat()}


def new_password(username: str) -> dict[str, str]:
    """For a worker who has forgotten theirs."""
    return {"username": username, "password": accounts.reset_password(username=username)}


def new_key(name: str) -> dict[str, str]:
    """A fresh access key; the old ones stop working at once."""
    key = accounts.replace_keys(name=name, now=clock.now())
    return {"access_key_id": key.access_key_id, "secret_access_key": key.secret_access_key}


def _cents(amount: str) -> int:
    return int(Decimal(amount) * 100)
