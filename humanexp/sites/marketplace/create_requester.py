"""A requester and its access key as JSON.

    python -m humanexp.sites.marketplace.create_requester --name demo --balance 100.00

The same name again prints the same key and adds no money, unless --deposit says how much.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial

from humanexp.sites.marketplace.money import amount
from humanexp.sites.serving import prepare


def _name(text: str) -> str:
    text = text.strip()
    if not 1 <= len(text) <= 100 or not text.isprintable():
        raise argparse.ArgumentTypeError("1 to 100 characters on one line")
    return text


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m humanexp.sites.marketplace.create_requester", description=__doc__)
    dollars = partial(amount, example="100.00")
    parser.add_argument(
        "--name", required=True, type=_name, action="append", help="shown to workers; given again, one line each"
    )
    parser.add_argument("--balance", default="100.00", type=dollars, help="first deposit in dollars, of a new name")
    parser.add_argument("--deposit", default="0", type=dollars, help="dollars to add now, to a new or an old name")
    chosen = parser.parse_args(arguments)
    prepare("marketplace")
    from humanexp.sites.marketplace.desk_tasks import create_requester

    for name in chosen.name:
        sys.stdout.write(json.dumps(create_requester(name, chosen.balance, chosen.deposit)) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
