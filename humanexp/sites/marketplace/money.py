"""Money is integer cents inside and MTurk's decimal strings outside."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from decimal import Decimal

from humanexp.sites.marketplace.errors import InvalidParameterValue

#: HITs with this many assignments or more carry the additional fee.
LARGE_HIT = 10


def dollars_to_cents(amount: str) -> int:
    """'1', '1.', '1.5' and '1.50' as MTurk's CurrencyAmount writes them."""
    cents = int(Decimal(amount.rstrip(".")) * 100)
    if cents > 10**9:
        raise InvalidParameterValue(f"The amount {amount} is larger than this marketplace keeps books for.")
    return cents


def amount(text: str, *, example: str) -> str:
    """An amount in dollars on the command line."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,2})?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no amount such as {example}")
    return text


def cents_to_dollars(cents: int) -> str:
    """Two decimals, always."""
    return f"{Decimal(cents) / 100:.2f}"


@dataclass(frozen=True, kw_only=True)
class FeeSchedule:
    """What the marketplace takes on top of what a worker gets: whole percent of the amount, and a minimum."""

    base_percent: int = 20
    #: On the reward (not on a bonus) of HITs with `LARGE_HIT` assignments or more.
    large_hit_percent: int = 20
    masters_percent: int = 5
    minimum_cents: int = 1

    def assignment_fee_cents(self, *, reward_cents: int, max_assignments: int, masters: bool = False) -> int:
        """Fee for one assignment."""
        percent = self.base_percent
        percent += self.large_hit_percent if max_assignments >= LARGE_HIT else 0
        percent += self.masters_percent if masters else 0
        return self._fee_cents(reward_cents, percent)

    def bonus_fee_cents(self, bonus_cents: int) -> int:
        return self._fee_cents(bonus_cents, self.base_percent)

    def _fee_cents(self, cents: int, percent: int) -> int:
        half_up = (cents * percent + 50) // 100
        return max(self.minimum_cents, half_up)
