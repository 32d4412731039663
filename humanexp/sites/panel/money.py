"""What a payment costs: the amount, the fee on it and the tax on the fee, each in whole sub-units of the currency."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

#: Of the amount: 33.3 % for academic and non-profit users, 42.8 % for others.
_ACADEMIC, _OTHERS = Fraction(1, 3), Fraction(428, 1000)
#: Sub-units an hour, by currency.
LEAST_PER_HOUR = {"GBP": 600, "USD": 800}
RECOMMENDED_PER_HOUR = {"GBP": 900, "USD": 1200}


@dataclass(frozen=True)
class Cost:
    amount: int = 0
    fees: int = 0
    vat: int = 0

    @property
    def total(self) -> int:
        return self.amount + self.fees + self.vat

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.amount + other.amount, self.fees + other.fees, self.vat + other.vat)

    def __mul__(self, times: int) -> Cost:
        return Cost(self.amount * times, self.fees * times, self.vat * times)


def cost_of(amount_cents: int, *, is_academic: bool, vat_percent: int) -> Cost:
    """Of one payment; fractions are rounded up, so that every payment has its whole fee."""
    fees = -int(-amount_cents * (_ACADEMIC if is_academic else _OTHERS) // 1)
    return Cost(amount_cents, fees, -(-fees * vat_percent // 100))


def shares_of(total: int, *, is_academic: bool, vat_percent: int) -> Cost:
    """A balance as the largest amount that it pays for, its fee, and the rest."""
    rate = _ACADEMIC if is_academic else _OTHERS
    amount = int(total / (1 + rate * (1 + Fraction(vat_percent, 100))))
    fees = int(amount * rate)
    return Cost(amount, fees, total - amount - fees)
