"""What has been promised, what may still be owed, and what is left of the caps. Fees are always in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, QuerySet, Sum

from humanexp.core import clock
from humanexp.experiments.models import Study
from humanexp.recruitment.models import Assignment, Campaign, HitWrite, Payment, PaymentKind, SenderLease, StudyBudget
from humanexp.recruitment.recruiters import fees_of
from humanexp.recruitment.states import AssignmentState, CampaignState, WriteState

#: Places that somebody has, and will be or has been paid for; a rejection can be overridden.
TAKEN = (
    AssignmentState.OPENED,
    AssignmentState.SUBMITTED,
    AssignmentState.APPROVED,
    AssignmentState.REJECTED,
)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A cap, and what counts against it."""

    #: None: no cap
    cap_cents: int | None
    committed_cents: int

    @property
    def left_cents(self) -> int | None:
        return None if self.cap_cents is None else max(0, self.cap_cents - self.committed_cents)


@dataclass(frozen=True, kw_only=True)
class Liability:
    """Money of a study by how sure it is, surest last."""

    #: places that nobody has taken, of campaigns that still run
    open_cents: int
    #: people at work
    under_way_cents: int
    #: submitted and not paid
    submitted_cents: int
    #: bonuses and compensations, planned or on their way
    promised_cents: int
    spent_cents: int

    @property
    def owed_cents(self) -> int:
        """All that may still have to be paid."""
        return self.open_cents + self.under_way_cents + self.submitted_cents + self.promised_cents

    @property
    def total_cents(self) -> int:
        return self.owed_cents + self.spent_cents


def place_cents(campaign: Campaign, hit_size: int) -> int:
    """Reward and fee of one place in a HIT of this size."""
    fees = fees_of(campaign.environment)
    masters = campaign.asks_for.masters
    return campaign.reward_cents + fees.reward_fee_cents(campaign.reward_cents, hit_size=hit_size, masters=masters)


def committed_cents(campaign: Campaign) -> int:
    """What the campaign may come to: places that can still be taken or were, and bonuses that are not refused."""
    places = campaign.quoted_cents if campaign.state != CampaignState.STOPPED else _taken_cents([campaign], TAKEN)
    return places + _cost(_extras().filter(assignment__campaign=campaign))


def budget_of(study: Study) -> Budget:
    stored = StudyBudget.objects.filter(study=study).first()
    campaigns = Campaign.objects.filter(study=study)
    return Budget(
        cap_cents=stored.cap_cents if stored else None,
        committed_cents=sum(committed_cents(campaign) for campaign in campaigns),
    )


def month_budget(environment: str) -> Budget:
    """Of this calendar month (UTC): money counts in the month in which it was promised."""
    account = SenderLease.objects.filter(environment=environment).first()
    return Budget(
        cap_cents=account.month_cap_cents if account else None,
        committed_cents=_promised_since(environment, _month_start(clock.now())),
    )


def liability(study: Study) -> Liability:
    campaigns = list(Campaign.objects.filter(study=study))
    running = [campaign for campaign in campaigns if campaign.state != CampaignState.STOPPED]
    confirmed = Payment.objects.filter(assignment__campaign__study=study, state=WriteState.CONFIRMED)
    extras = _extras().filter(assignment__campaign__study=study).exclude(state=WriteState.CONFIRMED)
    offered = sum(campaign.quoted_cents for campaign in running)
    return Liability(
        open_cents=max(0, offered - _taken_cents(running, TAKEN)),
        under_way_cents=_taken_cents(campaigns, (AssignmentState.OPENED,)),
        submitted_cents=_taken_cents(campaigns, (AssignmentState.SUBMITTED,)),
        promised_cents=_cost(extras),
        spent_cents=_cost(confirmed),
    )


def _promised_since(environment: str, since: datetime) -> int:
    places = HitWrite.objects.filter(environment=environment, created_at__gte=since).exclude(state=WriteState.REFUSED)
    running = places.exclude(hit__campaign__state=CampaignState.STOPPED)
    stopped = Campaign.objects.filter(environment=environment, launched_at__gte=since, state=CampaignState.STOPPED)
    extras = _extras().filter(environment=environment, created_at__gte=since)
    offered: int = running.aggregate(cents=Sum("cost_cents"))["cents"] or 0
    return offered + _taken_cents(list(stopped), TAKEN) + _cost(extras)


def _taken_cents(campaigns: list[Campaign], states: tuple[str, ...]) -> int:
    return sum(count * place_cents(campaign, size) for campaign, size, count in _taken(campaigns, states))


def _taken(campaigns: list[Campaign], states: tuple[str, ...]) -> Iterator[tuple[Campaign, int, int]]:
    """Places taken, by campaign and size of the HIT; where that is not known yet, the campaign's usual size."""
    by_pk = {campaign.pk: campaign for campaign in campaigns if campaign.reward_cents}
    taken = Assignment.objects.filter(campaign__in=list(by_pk), state__in=states).order_by()
    for pk, size, count in taken.values_list("campaign", "hit__max_assignments").annotate(n=Count("pk")):
        yield by_pk[pk], size or by_pk[pk].assignments_per_hit, count


def _extras() -> QuerySet[Payment]:
    return Payment.objects.exclude(kind=PaymentKind.REWARD).exclude(state=WriteState.REFUSED)


def _cost(payments: QuerySet[Payment]) -> int:
    return payments.aggregate(cents=Sum(F("amount_cents") + F("fee_cents")))["cents"] or 0


def _month_start(at: datetime) -> datetime:
    return at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
