"""Money is integer minor units and an ISO currency inside, and decimal at the edges; and what recruiters take on top.

Nothing is ever converted. Prices are computed here before anything is asked of a recruiter. Bonuses that have neither a
token nor a name are known by what the recruiter lists before and after a call (`BonusCalls`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, Protocol, Self

from humanexp.core import clock
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
    return f"{', '.join(others)} and {last}" if others else last


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
    currency: str = USUAL
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


def quote(terms: QuoteTerms, *, fees: FeeTable, currency: str = USUAL) -> Quote:
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


@dataclass(frozen=True, kw_only=True)
class BonusLine:
    """One of the bonuses that a call pays."""

    submission_id: str
    amount_cents: int


@dataclass(frozen=True, kw_only=True)
class AccountMoney:
    """Money of the account that is free, and all bonuses that the recruiter has paid on an offer."""

    balance_cents: int
    bonuses_cents: int


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What the recruiter listed of one submission's bonuses at some time, and how the account stood then."""

    cents: tuple[int, ...]
    #: ISO
    at: str
    #: None where nobody asked
    balance_cents: int | None = None
    bonuses_cents: int | None = None
    #: bonuses of the call that was sent right afterwards, this one among them
    lines: int = 1
    #: so many looks since the call
    looks: int = 0

    @classmethod
    def now(cls, cents: Sequence[int], standing: AccountMoney | None = None, *, lines: int = 1) -> Self:
        money = {} if standing is None else asdict(standing)
        return cls(cents=tuple(cents), at=clock.now().isoformat(), lines=lines, **money)

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> Self | None:
        """As `to_json` wrote it."""
        return cls(**{**stored, "cents": tuple(stored["cents"])}) if stored else None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def counted(self) -> Counter[int]:
        return Counter(self.cents)

    @property
    def seen_at(self) -> datetime:
        return datetime.fromisoformat(self.at)


@dataclass(frozen=True, kw_only=True)
class BonusPlan:
    """Bonuses of one offer that the recruiter has added up and not paid, and what was so before it pays them."""

    plan_id: str
    #: by submission: cents of each bonus that it had
    listed: Mapping[str, tuple[int, ...]]
    standing: AccountMoney


class BonusCalls(Protocol):
    """Bonuses that have neither a token nor a name: one call pays several, and a second such call pays them again.

    The recruiter lists amounts alone: that a bonus was paid is seen by the difference from what was listed before.
    """

    @property
    def most(self) -> int:
        """Lines of one call."""

    def plan(self, offer_id: str, lines: Sequence[BonusLine]) -> BonusPlan:
        """Pays nobody. Raises InsufficientFunds, and RecruiterError where the recruiter adds up another sum."""

    def pay(self, plan_id: str) -> None:
        """Sent once. The recruiter pays later: that it accepts the call proves nothing."""

    def listed(self, submission_id: str) -> tuple[int, ...]:
        """Cents of each bonus that a submission has now."""

    def standing(self, offer_id: str) -> AccountMoney:
        """As it is now."""
