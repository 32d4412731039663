"""The lab's desk: invitations, money owed to workers, workers' letters, requesters' keys.

    python -m humanexp.marketplace.desk invite --count 20 --note "course 3"
    python -m humanexp.marketplace.desk owed
    python -m humanexp.marketplace.desk paid A1B2C3 12.50 --way "bank transfer" --note "of 3 May"
    python -m humanexp.marketplace.desk clerk grace
    python -m humanexp.marketplace.desk master A1B2C3 [--off]
    python -m humanexp.marketplace.desk inbox [--all]
    python -m humanexp.marketplace.desk answer 7 "The second part opens on Monday."
    python -m humanexp.marketplace.desk new-password ada
    python -m humanexp.marketplace.desk new-key "Vision lab"

Each prints JSON. The database is brought up to date first.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from decimal import Decimal
from typing import Any


def invite(count: int, note: str) -> list[dict[str, str]]:
    from django.conf import settings

    from humanexp.marketplace import clock
    from humanexp.marketplace.services import accounts

    address = f"{settings.MARKETPLACE_URL}/signup/?invitation="
    made = accounts.invite(count=count, note=note, now=clock.now())
    return [{"code": one.code, "link": f"{address}{one.code}"} for one in made]


def owed() -> list[dict[str, Any]]:
    """Workers to whom money is owed, most first."""
    from humanexp.marketplace import clock
    from humanexp.marketplace.money import cents_to_dollars
    from humanexp.marketplace.selectors.own_work import everybody_owed

    return [
        {"worker_id": worker.worker_id, "username": worker.account.username, "owed": cents_to_dollars(cents)}
        for worker, cents in everybody_owed(clock.now())
    ]


def paid(worker_id: str, amount: str, way: str, note: str) -> dict[str, str]:
    """Write down what was paid; more than is owed is refused."""
    from humanexp.marketplace import clock
    from humanexp.marketplace.money import cents_to_dollars
    from humanexp.marketplace.selectors.accounts import worker_by_id
    from humanexp.marketplace.selectors.own_work import owed_cents
    from humanexp.marketplace.services import accounts

    worker, now = worker_by_id(worker_id), clock.now()
    accounts.record_payout(worker=worker, amount_cents=int(Decimal(amount) * 100), way=way, note=note, now=now)
    return {"worker_id": worker_id, "paid": amount, "still_owed": cents_to_dollars(owed_cents(worker, now))}


def clerk(username: str) -> dict[str, str]:
    """Somebody who writes payouts down on the desk's page; again for a new password."""
    from humanexp.marketplace import clock
    from humanexp.marketplace.services import accounts

    return {"username": username, "password": accounts.make_clerk(username=username, now=clock.now()), "page": "/desk/"}


def master(worker_id: str, off: bool) -> dict[str, Any]:
    from humanexp.marketplace.selectors.accounts import worker_by_id
    from humanexp.marketplace.services import accounts

    worker = accounts.mark_as_master(worker=worker_by_id(worker_id), is_master=not off)
    return {"worker_id": worker.worker_id, "is_master": worker.is_master}


def inbox(every: bool) -> list[dict[str, Any]]:
    """What workers have written; answered ones too with `every`."""
    from humanexp.marketplace.models import Inquiry

    found = Inquiry.objects.select_related("requester", "worker", "hit_type").order_by("pk")
    if not every:
        found = found.filter(answered_at=None)
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
        for one in found
    ]


def answer(number: int, text: str) -> dict[str, Any]:
    from humanexp.marketplace import clock
    from humanexp.marketplace.errors import NotFound
    from humanexp.marketplace.models import Inquiry
    from humanexp.marketplace.services import inquiries

    inquiry = Inquiry.objects.select_related("requester", "worker").filter(pk=number).first()
    if inquiry is None:
        raise NotFound(f"There is no letter number {number}.")
    sent = inquiries.answer(inquiry=inquiry, text=text, now=clock.now())
    return {"to": inquiry.worker.worker_id, "sent_at": sent.sent_at.isoformat()}


def new_password(username: str) -> dict[str, str]:
    """For a worker who has forgotten theirs."""
    from humanexp.marketplace.services import accounts

    return {"username": username, "password": accounts.reset_password(username=username)}


def new_key(name: str) -> dict[str, str]:
    """A fresh access key; the old ones stop working at once."""
    from humanexp.marketplace import clock
    from humanexp.marketplace.services import accounts

    key = accounts.replace_keys(name=name, now=clock.now())
    return {"access_key_id": key.access_key_id, "secret_access_key": key.secret_access_key}


def _amount(text: str) -> str:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,2})?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no amount such as 12.50")
    return text


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 10_000:
        raise argparse.ArgumentTypeError("a number from 1 to 10000")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m humanexp.marketplace.desk", description=__doc__.split("\n")[0])
    tasks = parser.add_subparsers(required=True, metavar="TASK")

    def task(name: str, function: Any, says: str) -> argparse.ArgumentParser:
        added = tasks.add_parser(name, help=says, description=says)
        added.set_defaults(function=function)
        return added

    one = task("invite", invite, "codes with which people can sign up")
    one.add_argument("--count", type=_count, default=1)
    one.add_argument("--note", default="", help="whom they are for")
    task("owed", owed, "what workers have earned and not been paid")
    one = task("paid", paid, "write down a payment made in the lab's own way")
    one.add_argument("worker_id")
    one.add_argument("amount", type=_amount)
    one.add_argument("--way", default="", help="how, as the worker reads it: bank transfer, cash")
    one.add_argument("--note", default="", help="for the lab alone")
    one = task("clerk", clerk, "an account for the desk's page, where payouts are written down")
    one.add_argument("username")
    one = task("master", master, "mark a worker as a master: work may ask for masters alone")
    one.add_argument("worker_id")
    one.add_argument("--off", action="store_true", help="take the mark away")
    one = task("inbox", inbox, "what workers have written to requesters")
    one.add_argument("--all", action="store_true", dest="every", help="answered ones too")
    one = task("answer", answer, "answer a worker's letter")
    one.add_argument("number", type=_count)
    one.add_argument("text")
    one = task("new-password", new_password, "a new password for a worker who has forgotten theirs")
    one.add_argument("username")
    one = task("new-key", new_key, "replace a requester's access keys")
    one.add_argument("name")
    return parser


def main(arguments: list[str] | None = None) -> int:
    chosen = vars(_parser().parse_args(arguments))
    function = chosen.pop("function")
    os.umask(0o077)
    os.environ["DJANGO_SETTINGS_MODULE"] = "humanexp.marketplace.settings"
    import django

    django.setup()
    from django.core.management import call_command

    from humanexp.marketplace.errors import MarketplaceError

    call_command("migrate", interactive=False, verbosity=0)
    try:
        sys.stdout.write(json.dumps(function(**chosen), indent=1) + "\n")
    except MarketplaceError as err:
        sys.stderr.write(f"{err}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
