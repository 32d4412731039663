"""Bonuses that have neither a token nor a name, and are known by what the recruiter lists before and after a call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Protocol, Self

from humanexp.core import clock


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
