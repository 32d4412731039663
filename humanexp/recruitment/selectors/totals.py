"""Sums over many rows, made in the database."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from humanexp.experiments.models import Study
from humanexp.recruitment.models import Campaign
from humanexp.recruitment.selectors.budgets import place_cents
from humanexp.recruitment.selectors.payments import payable
from humanexp.recruitment.selectors.tally import tally_of
from humanexp.recruitment.states import WriteState


@dataclass(frozen=True, kw_only=True)
class LedgerSums:
    """Money of a study by the state of its payments, fees included."""

    confirmed_count: int
    confirmed_cents: int
    planned_cents: int
    sending_cents: int
    refused_cents: int

    @property
    def open_cents(self) -> int:
        """Planned or on its way."""
        return self.planned_cents + self.sending_cents


def ledger_sums(study: Study) -> LedgerSums:
    tally = tally_of(study)
    return LedgerSums(
        confirmed_count=sum(row.count for row in tally.payments if row.state == WriteState.CONFIRMED),
        **{f"{state.value}_cents": tally.cents([state]) for state in WriteState},
    )


def payable_sum(study: Study) -> tuple[int, int]:
    """How many people can be paid now, and what that costs with fees: as `settle` would plan it."""
    groups = payable(study).select_related(None).order_by()
    counted = list(groups.values_list("campaign", "hit__max_assignments").annotate(n=Count("pk")))
    campaigns = Campaign.objects.in_bulk([pk for pk, _size, _n in counted])
    # a submission whose HIT is not known costs what one place alone does, see `reward_fee_cents`
    cents = sum(n * place_cents(campaigns[pk], size or 1) for pk, size, n in counted)
    return sum(n for _pk, _size, n in counted), cents
