"""The lab's desk: invitations, money owed to workers, workers' letters, requesters' keys.

    python -m humanexp.sites.marketplace.desk invite --count 20 --note "course 3"
    python -m humanexp.sites.marketplace.desk owed
    python -m humanexp.sites.marketplace.desk paid A1B2C3 12.50 --way "bank transfer" --note "of 3 May"
    python -m humanexp.sites.marketplace.desk clerk grace
    python -m humanexp.sites.marketplace.desk master A1B2C3 [--off]
    python -m humanexp.sites.marketplace.desk inbox [--all]
    python -m humanexp.sites.marketplace.desk answer 7 "The second part opens on Monday."
    python -m humanexp.sites.marketplace.desk new-password ada
    python -m humanexp.sites.marketplace.desk new-key "Vision lab"

Each prints JSON. The database is brought up to date first.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from typing import Any

from humanexp.sites.marketplace.errors import MarketplaceError
from humanexp.sites.marketplace.money import amount
from humanexp.sites.serving import prepare


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 10_000:
        raise argparse.ArgumentTypeError("a number from 1 to 10000")
    return int(text)


#: Each task: what it says of itself, and its arguments. `desk_tasks` has a function of the same name and arguments.
_TASKS: dict[str, tuple[str, dict[str, dict[str, Any]]]] = {
    "invite": (
        "codes with which people can sign up",
        {"--count": {"type": _count, "default": 1}, "--note": {"default": "", "help": "whom they are for"}},
    ),
    "owed": ("what workers have earned and not been paid", {}),
    "paid": (
        "write down a payment made in the lab's own way",
        {
            "worker_id": {},
            "amount": {"type": partial(amount, example="12.50")},
            "--way": {"default": "", "help": "how, as the worker reads it: bank transfer, cash"},
            "--note": {"default": "", "help": "for the lab alone"},
        },
    ),
    "clerk": ("an account for the desk's page, where payouts are written down", {"username": {}}),
    "master": (
        "mark a worker as a master: work may ask for masters alone",
        {"worker_id": {}, "--off": {"action": "store_true", "help": "take the mark away"}},
    ),
    "inbox": (
        "what workers have written to requesters",
        {"--all": {"action": "store_true", "dest": "every", "help": "answered ones too"}},
    ),
    "answer": ("answer a worker's letter", {"number": {"type": _count}, "text": {}}),
    "new-password": ("a new password for a worker who has forgotten theirs", {"username": {}}),
    "new-key": ("replace a requester's access keys", {"name": {}}),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m humanexp.sites.marketplace.desk", description=__doc__.split("\n")[0]
    )
    tasks = parser.add_subparsers(required=True, metavar="TASK")
    for name, (says, arguments) in _TASKS.items():
        task = tasks.add_parser(name, help=says, description=says)
        task.set_defaults(task=name.replace("-", "_"))
        for argument, options in arguments.items():
            task.add_argument(argument, **options)
    return parser


def main(arguments: list[str] | None = None) -> int:
    chosen = vars(_parser().parse_args(arguments))
    prepare("marketplace")
    from humanexp.sites.marketplace import desk_tasks

    try:
        reply = getattr(desk_tasks, chosen.pop("task"))(**chosen)
    except MarketplaceError as err:
        sys.stderr.write(f"{err}\n")
        return 1
    sys.stdout.write(json.dumps(reply, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
