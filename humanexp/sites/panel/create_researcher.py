"""An account and its token as JSON: python -m humanexp.sites.panel.create_researcher --name demo --balance 1000.

The same name again prints the same token and adds no money.
"""

from __future__ import annotations

import argparse
import json
import sys

from humanexp.sites.serving import prepare


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m humanexp.sites.panel.create_researcher", description=__doc__)
    parser.add_argument("--name", required=True)
    parser.add_argument("--balance", type=int, default=1000, help="practice pounds or dollars of a new account")
    parser.add_argument("--currency", choices=("GBP", "USD"), default="GBP")
    chosen = parser.parse_args(arguments)
    prepare("panel")
    from humanexp.sites.panel.actions import account, make_researcher

    workspace = make_researcher(chosen.name, balance_cents=100 * chosen.balance, currency=chosen.currency)
    sys.stdout.write(json.dumps(account(workspace)) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
