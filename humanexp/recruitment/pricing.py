"""What a campaign costs: pure arithmetic in integer cents."""

from __future__ import annotations

from dataclasses import dataclass

from humanexp.core.errors import InvalidRequest

#: A HIT with this many assignments carries the additional fee, and one with fewer can never grow to it.
LARGE_HIT = 10


@dataclass(frozen=True, kw_only=True)
class FeeTable:
    """What a recruiter takes on top of what a person gets: whole percent, rounded half up to a cent, with a minimum."""

    base_percent: int
    #: on the reward (not on a bonus) of a HIT with LARGE_HIT assignments or more
    large_hit_percent: int
    masters_percent: int
    minimum_cents: int

    def reward_fee_cents(self, reward_cents: int, *, hit_size: int, masters: bool = False) -> int:
        percent = self.base_percent
        percent += self.large_hit_percent if hit_size >= LARGE_HIT else 0
        percent += self.masters_percent if masters else 0
        return self._fee_cents(reward_cents, percent)

    def bonus_fee_cents(self, bonus_cents: int) -> int:
        return self._fee_cents(bonus_cents, self.base_percent)

    def _fee_cents(self, cents: int, percent: int) -> int:
        return max(self.minimum_cents, (cents * percent + 50) // 100)


#: As the largest recruiter of this kind published them in September 2026; the account page is the authority.
PUBLISHED_FEES = FeeTable(base_percent=20, large_hit_percent=20, masters_percent=5, minimum_cents=1)
NO_FEES = FeeTable(base_percent=0, large_hit_percent=0, masters_percent=0, minimum_cents=0)


@dataclass(frozen=True, kw_only=True)
class Quote:
    """The exact cost if every place is taken and paid."""

    reward_cents: int
    #: places of each HIT
    hit_sizes: tuple[int, ...]
    rewards_cents: int
    fees_cents: int

    @property
    def total_cents(self) -> int:
        return self.rewards_cents + self.fees_cents

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


def quote(*, reward_cents: int, assignments: int, per_hit: int, fees: FeeTable, masters: bool = False) -> Quote:
    """Cost of `assignments` places in HITs of at most `per_hit`."""
    if reward_cents < 0 or assignments < 1 or per_hit < 1:
        raise InvalidRequest("A campaign needs at least one place, one place a HIT, and a reward that is not negative.")
    sizes = split(assignments, per_hit)
    fee = sum(size * fees.reward_fee_cents(reward_cents, hit_size=size, masters=masters) for size in sizes)
    return Quote(reward_cents=reward_cents, hit_sizes=sizes, rewards_cents=reward_cents * assignments, fees_cents=fee)


def split(assignments: int, per_hit: int) -> tuple[int, ...]:
    """Full HITs first, the rest in a last, smaller one."""
    full, rest = divmod(assignments, per_hit)
    return (per_hit,) * full + ((rest,) if rest else ())


#: US federal minimum wage; a warning, not a rule.
WAGE_FLOOR_CENTS = 725


def hourly_cents(*, reward_cents: int, minutes: float) -> int | None:
    """What an hour pays at this pace; None when the time is unknown."""
    return round(reward_cents * 60 / minutes) if minutes > 0 else None
