"""Money is integer minor units and an ISO currency inside, and decimal at the edges. Nothing is ever converted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal

from django.utils.translation import gettext as _

from humanexp.core.errors import InvalidRequest

#: Currencies that recruiters pay in, each of 100 minor units, with their signs; sums are listed in this order.
SIGNS = {"USD": "$", "GBP": "£", "EUR": "€"}
#: Where nothing says which currency is meant; every account had it before accounts had currencies.
USUAL = "USD"

_DECIMAL = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,2})?")


def decimal(cents: int) -> str:
    """'1.44': what a recruiter's API takes, and what people type."""
    sign, cents = ("-", -cents) if cents < 0 else ("", cents)
    return f"{sign}{cents // 100}.{cents % 100:02d}"


def cents(amount: str) -> int:
    """'1.44', '$1.44', '1' -> minor units; anything else is refused, a third decimal too."""
    plain = amount.strip().lstrip("".join(SIGNS.values())).strip()
    if not _DECIMAL.fullmatch(plain):
        raise InvalidRequest(f"{amount!r} is not an amount of money: write it with two decimals, like 123.45.")
    return int(Decimal(plain) * 100)


def cap(amount: str) -> int | None:
    """A limit as people type it: an amount, or 'none'."""
    return None if amount.strip() == "none" else cents(amount)


def shown(cents: int, currency: str) -> str:
    """'$1,234.56': an amount as every page, message and report writes it."""
    sign = "−" if cents < 0 else ""
    symbol = SIGNS.get(currency) or f"{currency} "
    return f"{sign}{symbol}{abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def ordered(currencies: Iterable[str]) -> list[str]:
    """In the order in which sums are listed, each once."""
    order = list(SIGNS)
    return sorted(set(currencies), key=lambda one: (order.index(one) if one in order else len(order), one))


def summed(amounts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Currency and minor units, added up by currency."""
    sums: Counter[str] = Counter()
    for currency, amount in amounts:
        sums[currency] += amount
    return {currency: sums[currency] for currency in ordered(sums)}


def listed(sums: Mapping[str, int]) -> str:
    """'$1.44', '$1.44 and £2.00': one sum for each currency."""
    *others, last = [shown(amount, currency) for currency, amount in sums.items()] or [shown(0, USUAL)]
    return _("%(sums)s and %(last)s") % {"sums": ", ".join(others), "last": last} if others else last
