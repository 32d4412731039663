"""Bonuses that were sent and that nothing proves: what was listed before and what is listed now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from humanexp.recruitment.models import Answer, Payment
from humanexp.recruitment.recruiters.bonus_calls import Listing
from humanexp.recruitment.states import WriteState
from humanexp.studies.models import Study


@dataclass(frozen=True, kw_only=True)
class Sending:
    """One call that may have paid it."""

    sent_at: datetime
    answer: Answer
    #: bonuses of the call
    lines: int
    #: a person had it paid again all the same
    is_given_up: bool


@dataclass(frozen=True, kw_only=True)
class ParkedBonus:
    """One that waits for a person."""

    payment: Payment
    #: right before it was sent, or when it was left to a person unsent
    before: Listing | None
    #: at the last look since it was sent
    after: Listing | None

    @property
    def sendings(self) -> list[Sending]:
        """Every time that it was sent, the latest last; none where a restored database has forgotten it."""
        row = self.payment
        found = [
            Sending(
                sent_at=datetime.fromisoformat(one["sent_at"]),
                answer=Answer(one["answer"]),
                lines=one["lines"],
                is_given_up=True,
            )
            for one in row.given_up
        ]
        if row.look_at is not None and self.before is not None:
            now = self.before
            answer = Answer(row.answer)
            found.append(Sending(sent_at=now.seen_at, answer=answer, lines=now.lines, is_given_up=False))
        return found

    @property
    def balance_fell_by_cents(self) -> int | None:
        """Of the whole account since before the call, whatever else was paid from it."""
        before, after = self._sums("balance_cents")
        return None if before is None or after is None else before - after

    @property
    def bonuses_rose_by_cents(self) -> int | None:
        """Of the whole offer since before the call."""
        before, after = self._sums("bonuses_cents")
        return None if before is None or after is None else after - before

    def _sums(self, name: str) -> tuple[int | None, int | None]:
        return getattr(self.before, name, None), getattr(self.after, name, None)


def parked_bonuses(study: Study) -> list[ParkedBonus]:
    """Oldest first."""
    rows = Payment.objects.filter(campaign__study=study, state=WriteState.PARKED).order_by("pk")
    return [
        ParkedBonus(payment=row, before=Listing.of(row.evidence_before), after=Listing.of(row.listed_after))
        for row in rows.select_related("assignment__person__participant", "campaign")
    ]
