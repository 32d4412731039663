"""Assignments and payments of a study, each counted in one pass: what a page says of people and money shares it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, QuerySet, Sum

from humanexp.experiments.models import Study
from humanexp.recruitment.models import Assignment, Campaign, Payment, PaymentKind


@dataclass(frozen=True, kw_only=True)
class PlaceCount:
    """Assignments of one campaign, in HITs of one size, in one state."""

    campaign: int
    #: None where the recruiter has not told the HIT yet
    hit_size: int | None
    state: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Paid:
    """Payments of one kind through one recruiter in one state."""

    environment: str
    kind: str
    state: str
    count: int
    amount_cents: int
    fee_cents: int
    oldest: datetime

    @property
    def cents(self) -> int:
        return self.amount_cents + self.fee_cents


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Where a study's places and its money are."""

    campaigns: Mapping[int, Campaign]
    places: tuple[PlaceCount, ...]
    payments: tuple[Paid, ...]

    def people(self, states: Collection[str]) -> int:
        return sum(row.count for row in self.places if row.state in states)

    def cents(self, states: Collection[str]) -> int:
        return sum(row.cents for row in self.payments if row.state in states)

    def extra_cents(self, states: Collection[str]) -> int:
        """Bonuses and compensations."""
        return sum(row.cents for row in self.payments if row.state in states and row.kind != PaymentKind.REWARD)


def tally_of(study: Study) -> Tally:
    payments = Payment.objects.filter(assignment__campaign__study=study).order_by()
    sums = payments.values_list("environment", "kind", "state").annotate(
        n=Count("pk"), amount=Sum("amount_cents"), fee=Sum("fee_cents"), oldest=Min("created_at")
    )
    return Tally(
        campaigns={campaign.pk: campaign for campaign in Campaign.objects.filter(study=study)},
        places=place_counts(Assignment.objects.filter(campaign__study=study)),
        payments=tuple(
            Paid(
                environment=environment,
                kind=kind,
                state=state,
                count=count,
                amount_cents=amount,
                fee_cents=fee,
                oldest=oldest,
            )
            for environment, kind, state, count, amount, fee, oldest in sums
        ),
    )


def place_counts(assignments: QuerySet[Assignment]) -> tuple[PlaceCount, ...]:
    groups = assignments.order_by().values_list("campaign", "hit__max_assignments", "state")
    return tuple(
        PlaceCount(campaign=campaign, hit_size=size, state=state, count=count)
        for campaign, size, state, count in groups.annotate(n=Count("pk"))
    )
