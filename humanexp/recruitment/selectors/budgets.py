"""What has been promised, what may still be owed, and what is left of the caps. Fees are always in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet, Sum

from humanexp.core import clock
from humanexp.recruitment import money
from humanexp.recruitment.models import EXTRAS, PLACES, Call, Campaign, Payment, RecruiterAccount, StudyBudget
from humanexp.recruitment.pricing import Charge
from humanexp.recruitment.recruiters import currency_of, fees_of
from humanexp.recruitment.selectors.state_counts import PlaceCount, Tally, place_counts, tally_of
from humanexp.recruitment.states import UNSETTLED, AssignmentState, CampaignState, WriteState
from humanexp.studies.models import Study

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

    #: ISO code of both
    currency: str
    #: None: no cap
    cap_cents: int | None
    committed_cents: int

    @property
    def left_cents(self) -> int | None:
        return None if self.cap_cents is None else max(0, self.cap_cents - self.committed_cents)


def place_charge(campaign: Campaign, hit_size: int) -> Charge:
    """What the recruiter takes beside the reward of one place in a HIT of this size."""
    fees = fees_of(campaign.environment)
    return fees.on_reward(campaign.reward_cents, hit_size=hit_size, masters=campaign.asks_for.masters)


def place_cents(campaign: Campaign, hit_size: int) -> int:
    """Reward and fee of one place in a HIT of this size."""
    return campaign.reward_cents + place_charge(campaign, hit_size).cents


def committed_cents(campaign: Campaign) -> int:
    """What the campaign may come to: places that can still be taken or were, and bonuses that are not refused."""
    places = campaign.quoted_cents if campaign.state != CampaignState.STOPPED else _taken_cents([campaign], TAKEN)
    return places + _cost(_extras().filter(campaign=campaign))


def budget_of(study: Study, currency: str, tally: Tally | None = None) -> Budget:
    """In one currency: a study has a cap in each. With the tally of a page that has made it already, nothing is
    counted again."""
    tally = (tally or tally_of(study)).of(currency)
    stored = StudyBudget.objects.filter(study=study, currency=currency).first()
    extras = tally.extra_cents((*UNSETTLED, WriteState.CONFIRMED))
    return Budget(
        currency=currency,
        cap_cents=stored.cap_cents if stored else None,
        committed_cents=offered_cents(tally) + extras,
    )


def budgets_of(study: Study, tally: Tally, *also: str) -> list[Budget]:
    """In every currency that the study has campaigns or caps in, and in those given."""
    capped = StudyBudget.objects.filter(study=study, cap_cents__isnull=False).values_list("currency", flat=True)
    return [budget_of(study, one, tally) for one in money.ordered({*tally.currencies, *capped, *also})]


def offered_cents(tally: Tally) -> int:
    """Price of every place that can be taken or was: a stopped campaign's unused places have none."""
    stopped = {pk: found for pk, found in tally.campaigns.items() if found.state == CampaignState.STOPPED}
    offered = sum(found.quoted_cents for pk, found in tally.campaigns.items() if pk not in stopped)
    return offered + places_cents(stopped, tally.places, TAKEN)


@dataclass(frozen=True, kw_only=True)
class Launchers:
    """Who may launch through an account, besides treasurers and administrators."""

    #: everybody with an account of the installation
    is_open: bool
    usernames: tuple[str, ...]


def launchers_of(environment: str) -> Launchers:
    row = RecruiterAccount.objects.filter(environment=environment).first()
    if row is None:
        return Launchers(is_open=RecruiterAccount(environment=environment).is_open, usernames=())
    names = row.launchers.order_by("username").values_list("username", flat=True)
    return Launchers(is_open=row.is_open, usernames=tuple(names))


def month_budget(environment: str) -> Budget:
    """Of this calendar month (UTC): money counts in the month in which it was promised."""
    row = RecruiterAccount.objects.filter(environment=environment).first()
    month_start = clock.now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return Budget(
        currency=currency_of(environment),
        cap_cents=(row or RecruiterAccount(environment=environment)).month_cap_cents,
        committed_cents=_promised_since(environment, month_start),
    )


def _promised_since(environment: str, since: datetime) -> int:
    places = Call.objects.filter(environment=environment, kind__in=PLACES, created_at__gte=since)
    running = places.exclude(state=WriteState.REFUSED).exclude(campaign__state=CampaignState.STOPPED)
    stopped = Campaign.objects.filter(environment=environment, launched_at__gte=since, state=CampaignState.STOPPED)
    extras = _extras().filter(environment=environment, created_at__gte=since)
    return _cost(running) + _taken_cents(list(stopped), TAKEN) + _cost(extras)


def _taken_cents(campaigns: list[Campaign], states: Collection[str]) -> int:
    by_pk = {campaign.pk: campaign for campaign in campaigns}
    return places_cents(by_pk, place_counts(by_pk), states)


def places_cents(campaigns: Mapping[int, Campaign], places: Iterable[PlaceCount], states: Collection[str]) -> int:
    """Cost of the places in these states; where the HIT is not known yet, in the campaign's usual size.

    Of each campaign at most what all its places cost: what is begun under made-up ids takes none.
    """
    cents: Counter[int] = Counter()
    for row in places:
        campaign = campaigns.get(row.campaign)
        if campaign is not None and campaign.reward_cents and row.state in states:
            cents[row.campaign] += row.count * place_cents(campaign, row.hit_size or campaign.assignments_per_hit)
    return sum(min(cost, campaigns[pk].quoted_cents) for pk, cost in cents.items())


def _extras() -> QuerySet[Payment]:
    return Payment.objects.filter(kind__in=EXTRAS).exclude(state=WriteState.REFUSED)


def _cost(calls: QuerySet[Any]) -> int:
    return calls.aggregate(cents=Sum(F("amount_cents") + F("fee_cents")))["cents"] or 0
