"""Money is integer cents inside and decimal dollars outside."""

from __future__ import annotations

import re
from decimal import Decimal

from humanexp.core.errors import InvalidRequest

_DOLLARS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,2})?")


def dollars(cents: int) -> str:
    """'1.44': what the recruiter's API takes, and what people type."""
    sign, cents = ("-", -cents) if cents < 0 else ("", cents)
    return f"{sign}{cents // 100}.{cents % 100:02d}"


def cents(amount: str) -> int:
    """'1.44', '$1.44', '1' -> cents; anything else is refused, a third decimal too."""
    plain = amount.strip().removeprefix("$").strip()
    if not _DOLLARS.fullmatch(plain):
        raise InvalidRequest(f"{amount!r} is not an amount of money: write dollars and cents like 123.45.")
    return int(Decimal(plain) * 100)
