"""The port of bonuses that a recruiter cannot tell apart: planned, paid by one call, and seen by what is listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class BonusLine:
    """One of the bonuses that a call pays."""

    submission_id: str
    amount_cents: int


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Money of the account that is free, and all bonuses that the recruiter has paid on an offer."""

    balance_cents: int
    bonuses_cents: int


@dataclass(frozen=True, kw_only=True)
class BonusPlan:
    """Bonuses of one offer that the recruiter has added up and not paid, and what was so before it pays them."""

    plan_id: str
    #: by submission: cents of each bonus that it had
    listed: Mapping[str, tuple[int, ...]]
    standing: Standing


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

    def standing(self, offer_id: str) -> Standing:
        """As it is now."""
