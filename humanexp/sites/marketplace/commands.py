"""What the marketplace's own commands share."""

from __future__ import annotations

import argparse
import os
import re

import django


def prepare() -> None:
    """Set Django up for the marketplace, whatever the platform has set before, and bring the database up to date."""
    os.umask(0o077)  # the database holds requesters' secret keys
    os.environ["DJANGO_SETTINGS_MODULE"] = "humanexp.sites.marketplace.settings"
    django.setup()
    from humanexp.migrating import bring_up_to_date

    bring_up_to_date()


def amount(text: str, *, example: str) -> str:
    """An amount in dollars on the command line."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,2})?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no amount such as {example}")
    return text
