"""A requester and its access key as JSON: python -m humanexp.marketplace.create_requester --name demo --balance 100.00.

The same name again prints the same key and adds no money, unless --deposit says how much.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from decimal import Decimal


def create_requester(name: str, balance: str, deposit: str = "0") -> dict[str, str | bool]:
    """`balance` is a new requester's first deposit; `deposit` is added every time.

    The database is brought up to date first, so that this works before the site has ever run.
    """
    os.umask(0o077)
    os.environ["DJANGO_SETTINGS_MODULE"] = "humanexp.marketplace.settings"
    import django

    django.setup()
    from django.core.management import call_command

    from humanexp.marketplace import clock
    from humanexp.marketplace.money import cents_to_dollars
    from humanexp.marketplace.selectors.accounts import balance_of
    from humanexp.marketplace.services import accounts

    call_command("migrate", interactive=False, verbosity=0)
    now = clock.now()
    made = accounts.create_requester(name=name, balance_cents=_cents(balance), now=now)
    if _cents(deposit):
        accounts.deposit(requester=made.requester, amount_cents=_cents(deposit), now=now)
    return {
        "name": made.requester.name,
        "access_key_id": made.key.access_key_id,
        "secret_access_key": made.key.secret_access_key,
        "available_balance": cents_to_dollars(balance_of(made.requester, now).available),
        "created": made.is_new,
    }


def _cents(amount: str) -> int:
    return int(Decimal(amount) * 100)


def _amount(text: str) -> str:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,2})?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no amount such as 100.00")
    return text


def _name(text: str) -> str:
    text = text.strip()
    if not 1 <= len(text) <= 100 or not text.isprintable():
        raise argparse.ArgumentTypeError("1 to 100 characters on one line")
    return text


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m humanexp.marketplace.create_requester", description=__doc__)
    parser.add_argument(
        "--name", required=True, type=_name, action="append", help="shown to workers; given again, one line each"
    )
    parser.add_argument("--balance", default="100.00", type=_amount, help="first deposit in dollars, of a new name")
    parser.add_argument("--deposit", default="0", type=_amount, help="dollars to add now, to a new or an old name")
    chosen = parser.parse_args(arguments)
    for name in chosen.name:
        sys.stdout.write(json.dumps(create_requester(name, chosen.balance, chosen.deposit)) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
