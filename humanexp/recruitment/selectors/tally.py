"""Assignments and payments of a study, each counted in one pass: what a page says of people and money shares it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Min, Q, QuerySet, Sum

from humanexp.experiments.models import Study
from humanexp.recruitment.models import Assignment, Campaign, Payment, PaymentKind
from humanexp.recruitment.models.campaigns import UNMATCHED
from humanexp.recruitment.states import AssignmentState


@dataclass(frozen=True, kw_only=True)
class Places:
    """Assignments of one campaign, in HITs of one size, in one state."""

    campaign: int
    #: None where the recruiter has not told the HIT yet
    hit_size: int | None
    state: str
    count: int
    #: those among them that were opened here
    opened: int
    #: those that a person has to look at
    unmatched: int


@dataclass(frozen=True, kw_only=True)
class Paid:
    """Payments of one kind in one state, fees included."""

    kind: str
    state: str
    count: int
    cents: int
    oldest: datetime


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Where a study's places and its money are."""

    campaigns: Mapping[int, Campaign]
    places: tuple[Places, ...]
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
    sums = payments.values_list("kind", "state").annotate(
        n=Count("pk"), cents=Sum(F("amount_cents") + F("fee_cents")), oldest=Min("created_at")
    )
    return Tally(
        campaigns={campaign.pk: campaign for campaign in Campaign.objects.filter(study=study)},
        places=places_of(Assignment.objects.filter(campaign__study=study)),
        payments=tuple(
            Paid(kind=kind, state=state, count=count, cents=cents, oldest=oldest)
            for kind, state, count, cents, oldest in sums
        ),
    )


def places_of(assignments: QuerySet[Assignment]) -> tuple[Places, ...]:
    waits = Q(state=AssignmentState.SUBMITTED, evidence__in=UNMATCHED, cleared_at=None)
    groups = assignments.order_by().values_list("campaign", "hit__max_assignments", "state")
    counted = groups.annotate(n=Count("pk"), opened=Count("opened_at"), unmatched=Count("pk", filter=waits))
    return tuple(
        Places(campaign=campaign, hit_size=size, state=state, count=count, opened=opened, unmatched=unmatched)
        for campaign, size, state, count, opened, unmatched in counted
    )
