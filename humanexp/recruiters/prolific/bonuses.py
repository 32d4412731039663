"""Bonuses on Prolific, which knows no token and no reason: planned, checked, paid by one call, proved by difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

from django.conf import settings

from humanexp.core.errors import InsufficientFunds, OutcomeUnknown, RecruiterError, RecruiterUnavailable
from humanexp.recruiters import money
from humanexp.recruiters.bonus_lists import AccountMoney, BonusLine, BonusPlan
from humanexp.recruiters.port import BonusReport
from humanexp.recruiters.prolific.client import MOST_BONUSES, ProlificClient
from humanexp.recruiters.prolific.replies import BonusPlanReply

T = TypeVar("T")
#: So often something is asked before it counts as unanswered.
READS = 3


class ProlificMoney:
    """Of one wallet. Nothing here sends a payment twice, and nobody else calls `pay_bonuses`."""

    def __init__(self, client: ProlificClient, workspace: str, currency: str) -> None:
        self._client, self._workspace, self._currency = client, workspace, currency

    @property
    def most(self) -> int:
        return max(1, min(MOST_BONUSES, int(settings.BONUSES_PER_CALL)))

    def plan(self, offer_id: str, lines: Sequence[BonusLine]) -> BonusPlan:
        try:
            there = self._client.plan_bonuses(offer_id, [(line.submission_id, line.amount_cents) for line in lines])
        except OutcomeUnknown as error:
            raise RecruiterUnavailable(error.message) from None  # a plan pays nobody: another one may be made
        standing = self.standing(offer_id)
        self._check(there, offer_id, sum(line.amount_cents for line in lines), standing)
        return BonusPlan(
            plan_id=there.id,
            listed={line.submission_id: self.listed(line.submission_id) for line in lines},
            standing=standing,
        )

    def pay(self, plan_id: str) -> None:
        self._client.pay_bonuses(plan_id)

    def listed(self, submission_id: str) -> tuple[int, ...]:
        return tuple(_read(lambda: self._client.submission(submission_id)).bonus_payments)

    def standing(self, offer_id: str) -> AccountMoney:
        return AccountMoney(
            balance_cents=_read(lambda: self._client.balance(self._workspace)).available_balance,
            bonuses_cents=self._paid(offer_id),
        )

    def bonuses(self, offer_id: str) -> Iterator[BonusReport]:
        """Every bonus of a study, whoever paid it. None of them says why, or when.

        One list names all of them, believed where it adds up to what the study has cost. Where it does not, because it
        is short or names none, each submission is asked.
        """
        before = self._paid(offer_id)
        if not before:
            return
        listed = _read(lambda: self._client.bonuses_in_list(offer_id))
        found = [(row.id, row.participant_id, row.bonus_payments or []) for row in listed]
        total = sum(sum(cents) for _, _, cents in found)
        if not (total == before or before < total <= self._paid(offer_id)):  # some may have been paid meanwhile
            everybody = _read(lambda: list(self._client.submissions(offer_id)))
            found = [(row.id, row.participant_id, list(self.listed(row.id))) for row in everybody]
        for submission, person, amounts in found:
            for cents in amounts:
                yield BonusReport(submission_id=submission, person_id=person, amount_cents=cents, reason="")

    def _paid(self, offer_id: str) -> int:
        return _read(lambda: self._client.study_cost(offer_id)).bonuses.rewards.amount

    def _check(self, there: BonusPlanReply, offer_id: str, cents: int, standing: AccountMoney) -> None:
        """What is added up there is what is meant here: the call that pays says nothing but the plan's id."""
        if (there.study, there.amount) != (offer_id, cents):
            raise RecruiterError(
                f"The recruiter adds these bonuses up to {self._shown(there.amount)} in place of {self._shown(cents)}, "
                "or for another offer; nothing was paid."
            )
        if there.total_amount > standing.balance_cents:
            raise InsufficientFunds(
                f"Bonuses of {self._shown(there.total_amount)} with fees are due, and "
                f"{self._shown(standing.balance_cents)} are free in the account. Add money; then they are sent."
            )

    def _shown(self, cents: int) -> str:
        return money.shown(cents, self._currency)


def _read(call: Callable[[], T]) -> T:
    """A call needs a dozen reads before it: for one that fails, the others are not thrown away."""
    for _ in range(READS - 1):
        with suppress(RecruiterUnavailable):
            return call()
    return call()
