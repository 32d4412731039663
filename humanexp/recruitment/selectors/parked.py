"""Bonuses that were sent and that nothing proves: what was listed before and what is listed now."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, Prefetch

from humanexp.recruitment.models import BonusAttempt, Payment
from humanexp.recruitment.states import WriteState
from humanexp.studies.models import Study


@dataclass(frozen=True, kw_only=True)
class ParkedBonus:
    """One that waits for a person."""

    payment: Payment
    #: every time that it was sent, the latest last; none where a restored database has forgotten it
    attempts: list[BonusAttempt]

    @property
    def latest(self) -> BonusAttempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def listed_before(self) -> list[int]:
        """Cents of each bonus that the recruiter listed before it was sent."""
        before: list[int] = (self.latest.listed_before if self.latest else self.payment.listed) or []
        return before

    @property
    def newly_listed(self) -> list[int]:
        """Amounts that the recruiter lists now and did not before: none of them is this bonus."""
        last = self.latest
        if last is None:
            return []
        return sorted((Counter(last.listed or []) - Counter(last.listed_before)).elements())

    @property
    def balance_fell_by_cents(self) -> int | None:
        """Of the whole account since before the call, whatever else was paid from it."""
        call = self.latest.call if self.latest else None
        return call.balance_before_cents - call.balance_cents if call and call.balance_cents is not None else None

    @property
    def bonuses_rose_by_cents(self) -> int | None:
        """Of the whole offer since before the call."""
        call = self.latest.call if self.latest else None
        return call.bonuses_cents - call.bonuses_before_cents if call and call.bonuses_cents is not None else None


def parked_bonuses(study: Study) -> list[ParkedBonus]:
    """Oldest first."""
    rows = Payment.objects.filter(campaign__study=study, state=WriteState.PARKED).order_by("pk")
    attempts = BonusAttempt.objects.select_related("call", "decided_by").annotate(lines=Count("call__attempts"))
    found = rows.select_related("assignment__person__participant", "campaign").prefetch_related(
        Prefetch("bonus_attempts", attempts.order_by("number"))
    )
    return [ParkedBonus(payment=row, attempts=list(row.bonus_attempts.all())) for row in found]
