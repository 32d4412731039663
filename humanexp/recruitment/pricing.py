"""What a campaign costs: pure arithmetic in integer minor units of one currency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from humanexp.core.errors import InvalidRequest
from humanexp.recruitment import money

#: A HIT with this many assignments carries the additional fee, and one with fewer can never grow to it.
LARGE_HIT = 10


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What a recruiter takes on top of what a person gets."""

    fee_cents: int
    #: on the fee
    tax_cents: int = 0

    @property
    def cents(self) -> int:
        return self.fee_cents + self.tax_cents


@dataclass(frozen=True, kw_only=True)
class FeeTable:
    """The charge on a payment: whole percent, rounded half up to a cent, with a minimum fee."""

    base_percent: int
    #: on the reward (not on a bonus) of a HIT with LARGE_HIT assignments or more
    large_hit_percent: int
    masters_percent: int
    minimum_cents: int
    #: of the fee, not of what the person gets
    tax_percent: int = 0

    def reward_fee_cents(self, reward_cents: int, *, hit_size: int, masters: bool = False) -> int:
        """With its tax."""
        return self.on_reward(reward_cents, hit_size=hit_size, masters=masters).cents

    def bonus_fee_cents(self, bonus_cents: int) -> int:
        """With its tax."""
        return self.on_bonus(bonus_cents).cents

    def on_reward(self, reward_cents: int, *, hit_size: int, masters: bool = False) -> Charge:
        percent = self.base_percent
        percent += self.large_hit_percent if hit_size >= LARGE_HIT else 0
        percent += self.masters_percent if masters else 0
        return self._charge(reward_cents, percent)

    def on_bonus(self, bonus_cents: int) -> Charge:
        return self._charge(bonus_cents, self.base_percent)

    def _charge(self, cents: int, percent: int) -> Charge:
        fee = max(self.minimum_cents, (cents * percent + 50) // 100)
        return Charge(fee_cents=fee, tax_cents=(fee * self.tax_percent + 50) // 100)


#: As the largest recruiter of this kind published them in September 2026; the account page is the authority.
PUBLISHED_FEES = FeeTable(base_percent=20, large_hit_percent=20, masters_percent=5, minimum_cents=1)
NO_FEES = FeeTable(base_percent=0, large_hit_percent=0, masters_percent=0, minimum_cents=0)


@dataclass(frozen=True, kw_only=True)
class QuoteTerms:
    """What a recruiter puts a price on: places, by the size of the HIT that they are in or come into."""

    reward_cents: int
    #: places, and the size of their HIT
    lots: tuple[tuple[int, int], ...]
    masters: bool = False


@dataclass(frozen=True, kw_only=True)
class Quote:
    """The exact cost if every place is taken and paid."""

    reward_cents: int
    #: places of each HIT
    hit_sizes: tuple[int, ...]
    rewards_cents: int
    fees_cents: int
    #: on the fees
    tax_cents: int = 0
    #: ISO code of all of it
    currency: str = money.USUAL
    #: by the published fees, or as the recruiter answered when it was asked
    source: Literal["formula", "asked"] = "formula"

    @property
    def total_cents(self) -> int:
        return self.rewards_cents + self.fees_cents + self.tax_cents

    @property
    def is_asked(self) -> bool:
        return self.source == "asked"

    @property
    def assignments(self) -> int:
        return sum(self.hit_sizes)


@dataclass(frozen=True, kw_only=True)
class SizeComparison:
    """The same places in HITs under ten and in one HIT. The price of saving: nobody there keeps a worker to one."""

    small: Quote
    large: Quote

    @property
    def saved_cents(self) -> int:
        return self.large.total_cents - self.small.total_cents


def terms_of(*, reward_cents: int, assignments: int, per_hit: int, masters: bool = False) -> QuoteTerms:
    """`assignments` places in HITs of at most `per_hit`."""
    if reward_cents < 0 or assignments < 1 or per_hit < 1:
        raise InvalidRequest("A campaign needs at least one place, one place a HIT, and a reward that is not negative.")
    sizes = split(assignments, per_hit)
    return QuoteTerms(reward_cents=reward_cents, lots=tuple((size, size) for size in sizes), masters=masters)


def quote(terms: QuoteTerms, *, fees: FeeTable, currency: str = money.USUAL) -> Quote:
    """By the fee table: what a recruiter charges that publishes its fees."""
    charges = [
        (places, fees.on_reward(terms.reward_cents, hit_size=size, masters=terms.masters))
        for places, size in terms.lots
    ]
    return Quote(
        reward_cents=terms.reward_cents,
        hit_sizes=tuple(places for places, _size in terms.lots),
        rewards_cents=terms.reward_cents * sum(places for places, _size in terms.lots),
        fees_cents=sum(places * charge.fee_cents for places, charge in charges),
        tax_cents=sum(places * charge.tax_cents for places, charge in charges),
        currency=currency,
    )


def split(assignments: int, per_hit: int) -> tuple[int, ...]:
    """Full HITs first, the rest in a last, smaller one."""
    full, rest = divmod(assignments, per_hit)
    return (per_hit,) * full + ((rest,) if rest else ())


#: US federal minimum wage; a warning, not a rule.
WAGE_FLOOR_CENTS = 725


def hourly_cents(*, reward_cents: int, minutes: float) -> int | None:
    """What an hour pays at this pace; None when the time is unknown."""
    return round(reward_cents * 60 / minutes) if minutes > 0 else None
