"""What an hour of this work pays, by the time that people were active, and what brings it to a minimum."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from django.conf import settings
from django.db.models import Count, Q, QuerySet

from analysis.campaigns import Work, equal_top_up, median_hourly_cents, quantile
from humanexp.ledger.budgets import budget_of, committed_cents, month_budget
from humanexp.ledger.models import EXTRAS, CampaignTopUp, Payment
from humanexp.ledger.payments import Tally, people_counts
from humanexp.ledger.terms import suggested_terms
from humanexp.participation.models import FINISHED, Session, SessionState, counting
from humanexp.participation.sessions import measured, minutes_of, unmeasured
from humanexp.recruiters import money, registry
from humanexp.recruiters.campaigns import ENOUGH, minutes_worked
from humanexp.recruiters.models import UNMATCHED, Assignment, Campaign, Evidence
from humanexp.recruiters.money import hourly_cents
from humanexp.recruiters.registry import currency_of, fees_of, kind_of
from humanexp.recruiters.states import LISTED, AssignmentState, CampaignState, WriteState
from humanexp.studies.models import Population, Study

#: The cause of such a bonus begins with it; what an earlier one paid counts in the next.
TOP_UP = "top-up"
Source = Literal["active", "pilot", "plan"]


@dataclass(frozen=True, kw_only=True)
class Wage:
    """What an hour pays, bonuses included: to the person in the middle, and to that of the least paid quarter."""

    #: measured in this study; in an earlier one of its family; or as long as the launch or the plan says
    source: Source
    sessions: int
    #: people of paid campaigns who submitted, and whose time nobody could measure: they are in no figure here
    unmeasured: int
    median_minutes: float
    #: of the sums that follow
    currency: str
    #: None: people are not paid
    hourly_median_cents: int | None
    #: three of four people get at least this; None while nobody has done it
    hourly_slow_cents: int | None
    #: 0: nobody has set one in this currency
    floor_cents: int

    @property
    def is_unpaid(self) -> bool:
        return self.hourly_median_cents is None

    @property
    def is_measured(self) -> bool:
        return self.source == "active" and not self.is_unpaid

    @property
    def is_under_floor(self) -> bool:
        known = [cents for cents in (self.hourly_median_cents, self.hourly_slow_cents) if cents is not None]
        return bool(known) and min(known) < self.floor_cents


@dataclass(frozen=True, kw_only=True)
class TopUpRow:
    """One person who worked for less than the floor."""

    #: its primary key
    assignment: int
    environment: str
    #: the person's code
    participant: str
    active_minutes: float
    #: with every bonus so far
    hourly_cents: int
    bonus_cents: int


@dataclass(frozen=True, kw_only=True)
class TopUpPlan:
    """What it costs to bring everybody who was paid or will be to the floor."""

    currency: str
    floor_cents: int
    rows: tuple[TopUpRow, ...]
    fee_cents: int
    #: people whose time nobody measured
    unknown: int

    @property
    def people(self) -> int:
        return len(self.rows)

    @property
    def cents(self) -> int:
        return sum(row.bonus_cents for row in self.rows)

    @property
    def total_cents(self) -> int:
        return self.cents + self.fee_cents


def least_hourly_cents(currency: str, environments: Iterable[str] = ()) -> int:
    """Least pay of an hour in this currency: the installation's, or a recruiter's own minimum where that is higher.

    0 where nobody has set one: nothing is converted from another currency.
    """
    own = settings.WAGE_FLOOR_CENTS if currency == money.USUAL else getattr(settings, f"WAGE_FLOOR_CENTS_{currency}", 0)
    return max([own, *(kind_of(one).hourly_minimum_cents(currency) or 0 for one in environments)])


def least_hourly_of(study: Study, currency: str, environments: Iterable[str] = ()) -> int:
    """The same in a study, whose own minimum counts where it is higher."""
    own = (study.configuration.get("recruitment") or {}).get("least_hourly_cents") or 0
    return max(own, least_hourly_cents(currency, environments))


def wage_of(study: Study, tally: Tally | None = None, currency: str = "") -> Wage:
    """Before anybody has taken part, a pilot of the same family tells the time, or else the plan does.

    Of the campaigns in this currency; the newest paid one's where it is left out. A study whose campaigns pay nobody is
    unpaid; one without a campaign is taken at its suggested reward. With the tally of a page that has made it already,
    nobody is counted again.
    """
    campaigns = list(tally.campaigns.values() if tally is not None else Campaign.objects.filter(study=study))
    paid = [one for one in campaigns if one.reward_cents and currency in ("", one.currency)]
    if not paid:
        terms = suggested_terms(study)
        reward_cents = 0 if campaigns else terms.reward_cents
        return wage_at(study, reward_cents=reward_cents, stated_minutes=terms.estimated_minutes)
    newest, took = paid[0], minutes_worked(study, ENOUGH)
    paid = [one for one in paid if one.currency == newest.currency]
    paid_pks = {campaign.pk for campaign in paid}
    known = tally.known if tally is not None else people_counts(study, paid_pks)
    listed = [row for row in known if row.campaign in paid_pks and row.state in LISTED]
    wage = replace(
        _wage(study, took, newest.reward_cents, newest.estimated_minutes, {one.environment for one in paid}),
        unmeasured=sum(row.count - row.finished for row in listed),
    )
    rates = sorted(_hourly(took, paid_pks))
    if not rates:
        return wage
    return replace(
        wage,
        hourly_median_cents=round(quantile(rates, 0.5)),
        hourly_slow_cents=round(quantile(rates, 0.25)),
    )


def wage_at(study: Study, *, reward_cents: int, stated_minutes: int, to: str = "") -> Wage:
    """Of a launch at this reward, by the time that people took, where some did; else by the minutes it states."""
    return _wage(study, minutes_worked(study, ENOUGH), reward_cents, stated_minutes, {to} if to else set())


def _wage(
    study: Study, took: Mapping[int, float], reward_cents: int, stated_minutes: int, environments: Collection[str]
) -> Wage:
    """`environments`: through which people are paid, all in one currency."""
    currency = next((currency_of(one) for one in environments), money.USUAL)
    minutes, source = sorted(took.values()), "active"
    if not minutes:
        minutes, source = sorted(_minutes_of_pilots(study)), "pilot"
    if not minutes:
        minutes, source = [float(stated_minutes)], "plan"
    usual, slow = (quantile(minutes, share) for share in (0.5, 0.75))
    is_known = source != "plan"
    return Wage(
        source=source,  # type: ignore[arg-type]
        sessions=len(minutes) if is_known else 0,
        unmeasured=0,
        median_minutes=usual,
        hourly_median_cents=_hourly_cents(reward_cents, usual),
        hourly_slow_cents=_hourly_cents(reward_cents, slow) if is_known else None,
        currency=currency,
        floor_cents=least_hourly_of(study, currency, environments),
    )


def _hourly_cents(reward_cents: int, minutes: float) -> int | None:
    return hourly_cents(reward_cents=reward_cents, minutes=minutes) if reward_cents else None


def _hourly(took: Mapping[int, float], paid: Collection[int]) -> Iterator[float]:
    """Of everybody in these campaigns whose time is known: reward and bonuses."""
    worked = Assignment.objects.filter(session__in=list(took), campaign__in=list(paid))
    people = list(worked.values_list("pk", "session_id", "campaign__reward_cents"))
    bonuses = _sums(Payment.objects.filter(assignment__in=[pk for pk, _session, _cents in people]))
    for pk, session, reward_cents in people:
        minutes = took.get(session or 0, 0.0)
        if minutes > 0:
            yield (reward_cents + bonuses.get(pk, 0)) * 60 / minutes


def top_up_plan(study: Study, floor_cents: int | None = None, currency: str = "") -> TopUpPlan:
    """Bonuses that bring an hour's active work to the floor, half a cent up; without the bonuses there were already.

    Of the campaigns in this currency; the newest paid one's where it is left out.
    """
    campaigns = list(Campaign.objects.filter(study=study, reward_cents__gt=0))
    currency = currency or (campaigns[0].currency if campaigns else money.USUAL)
    campaigns = [one for one in campaigns if one.currency == currency]
    floor = floor_cents
    if floor is None:
        floor = least_hourly_of(study, currency, {one.environment for one in campaigns})
    worked = Assignment.objects.filter(campaign__in=campaigns, state__in=LISTED, person__isnull=False)
    # few among many: by their keys, which an index tells
    extras = Payment.objects.filter(campaign__in=Campaign.objects.filter(study=study), kind__in=EXTRAS)
    paid = _sums(Payment.objects.filter(pk__in=extras))
    minutes, earned_by, unknown = {}, {}, 0
    for pk, reward_cents, active_s in _doubted(study, worked, floor):
        earned = reward_cents + paid.get(pk, 0)
        if active_s is None:
            unknown += 1
        elif _missing_cents(active_s / 60, floor, earned) > 0:
            minutes[pk], earned_by[pk] = active_s / 60, earned
    people = Assignment.objects.filter(pk__in=list(earned_by)).order_by("pk")
    rows = tuple(
        TopUpRow(
            assignment=pk,
            environment=environment,
            participant=participant,
            active_minutes=minutes[pk],
            hourly_cents=hourly_cents(reward_cents=earned_by[pk], minutes=minutes[pk]) or 0,
            bonus_cents=_missing_cents(minutes[pk], floor, earned_by[pk]),
        )
        for pk, environment, participant in people.values_list("pk", "environment", "person__participant__code")
    )
    fee = sum(fees_of(row.environment).bonus_fee_cents(row.bonus_cents) for row in rows)
    return TopUpPlan(currency=currency, floor_cents=floor, rows=rows, fee_cents=fee, unknown=unknown)


def _doubted(study: Study, worked: QuerySet[Assignment], floor: int) -> Iterator[tuple[int, int, float | None]]:
    """Who may have worked for less than the floor: assignment, reward, and seconds of work, where known.

    The working time is kept beside each session, so an index leaves out everybody else by the lowest reward. It is
    measured now where a job has not kept it yet.
    """
    sessions, columns = Session.objects.filter(study=study).order_by(), ("pk", "campaign__reward_cents")
    rewards = Campaign.objects.filter(study=study, reward_cents__gt=0).values_list("reward_cents", flat=True)
    enough_s = 3600 * min(rewards, default=0) / max(floor, 1) - 1  # what is missing is told of whole seconds
    long = sessions.filter(completed_at__isnull=False, state__in=FINISHED, active_s__gt=enough_s)
    yield from worked.filter(session__in=long).order_by().values_list(*columns, "session__active_s")
    new = unmeasured().filter(study=study)
    known = measured(list(new.order_by().values_list("pk", flat=True)))
    # told apart so that the beginning of an index names each
    under_way = sessions.filter(completed_at=None).exclude(state=SessionState.WITHDRAWN)
    taken_back = sessions.filter(state=SessionState.WITHDRAWN)
    parts = [worked.filter(session__in=part) for part in (new, under_way, taken_back)]
    for part in (*parts, worked.filter(session=None)):
        for pk, reward_cents, session in part.order_by().values_list(*columns, "session_id"):
            yield pk, reward_cents, known.get(session)


def _missing_cents(minutes: float, floor_cents: int, earned_cents: int) -> int:
    """What lacks to the floor for so long, part of a cent up; zero or less where nothing does."""
    return -(-round(minutes * 60) * floor_cents // 3600) - earned_cents


def _minutes_of_pilots(study: Study) -> list[float]:
    """Of the latest other study in the family that anybody has finished."""
    others = Study.objects.filter(family=study.family_id, population=study.population).exclude(pk=study.pk)
    for other in others.order_by("-version", "-pk"):
        minutes = minutes_worked(other, ENOUGH)
        if minutes:
            return list(minutes.values())
    return []


def _sums(payments: QuerySet[Payment]) -> dict[int, int]:
    """Bonuses and compensations among these payments that are not refused, by the assignment."""
    paid: dict[int, int] = {}
    bonuses = payments.filter(kind__in=EXTRAS).exclude(state=WriteState.REFUSED).order_by()
    for assignment, cents in bonuses.values_list("assignment_id", "amount_cents"):
        paid[assignment] = paid.get(assignment, 0) + cents
    return paid


#: The cause of the equal top-up in the ledger: once for an assignment.
EQUAL_TOP_UP = "equal-top-up"
#: The cause of a reward, also of one that is paid as a bonus to somebody whose time ran out.
SUBMISSION = "submission"


def floor_of(campaign: Campaign) -> int:
    """Least pay of an hour there, in its currency; 0: none."""
    return least_hourly_of(campaign.study, campaign.currency, {campaign.environment})


def topped_up(campaign: Campaign) -> QuerySet[Assignment]:
    """Everybody whom an equal top-up is for: who has done the work and is paid for it."""
    paid = _is_paid(Q(state=AssignmentState.TIMED_OUT) if campaign.capabilities.lists_in_progress else None)
    return campaign.assignments_taken.filter(paid, person__isnull=False).order_by("pk")


def _is_paid(late: Q | None) -> Q:
    """`late`: whose time ran out and who are paid all the same, where anybody is."""
    paid = Q(state=AssignmentState.APPROVED)
    # a person decides first about submissions that fit no session
    paid |= Q(state=AssignmentState.SUBMITTED) & (~Q(evidence__in=UNMATCHED) | Q(cleared_at__isnull=False))
    return paid if late is None else paid | late & (Q(session__state__in=FINISHED) | Q(evidence=Evidence.OUT_OF_TIME))


def work_of(campaign: Campaign) -> list[Work]:
    """Of everybody there whose time is known. Scripted participants are no measure of it."""
    if campaign.study.population != Population.PEOPLE:
        return []
    people = topped_up(campaign).filter(counting("session"), session__completed_at__isnull=False)
    rows = list(people.values_list("pk", "session_id", "session__active_s"))
    minutes = minutes_of({session: active_s for _pk, session, active_s in rows})
    extras: dict[int, int] = {}
    # What was refused was not paid; the reward of somebody who ran out of time is in the ledger as a bonus.
    payments = Payment.objects.filter(campaign=campaign, kind__in=EXTRAS).exclude(state=WriteState.REFUSED)
    for pk, cents in payments.exclude(cause=SUBMISSION).order_by().values_list("assignment_id", "amount_cents"):
        extras[pk] = extras.get(pk, 0) + cents
    return [
        Work(minutes=minutes[session], earned_cents=campaign.reward_cents + extras.get(pk, 0))
        for pk, session, _active_s in rows
        if minutes.get(session, 0) > 0
    ]


@dataclass(frozen=True, kw_only=True)
class TopUpOffer:
    """One equal bonus for everybody of a campaign, and what it comes to."""

    campaign: Campaign
    floor_cents: int
    #: of the median hour: now, and with the bonus
    hourly_cents: int
    reaches_cents: int
    #: what it takes to reach the minimum, and what the caps leave of that, for each
    needed_cents: int
    amount_cents: int
    #: who gets it now, and who can still come and gets it then
    people: int
    later: int
    #: of one bonus, with its fee
    each_cents: int
    #: what the tightest cap leaves; None: there is none
    room_cents: int | None

    @property
    def now_cents(self) -> int:
        return self.people * self.each_cents

    @property
    def total_cents(self) -> int:
        return (self.people + self.later) * self.each_cents

    @property
    def is_capped(self) -> bool:
        return self.amount_cents < self.needed_cents

    @property
    def missing_cents(self) -> int:
        """By how much the caps would have to be higher for the whole of it."""
        fees = fees_of(self.campaign.environment)
        whole = (self.people + self.later) * (self.needed_cents + fees.bonus_fee_cents(self.needed_cents))
        return max(0, whole - (self.room_cents or 0))


def top_up_offer(campaign: Campaign) -> TopUpOffer | None:
    """None where the median hour pays enough, or nobody's time is known."""
    work, floor = work_of(campaign), floor_of(campaign)
    if not work or median_hourly_cents(work) >= floor:
        return None
    needed, fees = equal_top_up(work, floor), fees_of(campaign.environment)
    people, later = topped_up(campaign).count(), places_to_come(campaign)
    room = room_cents(campaign)
    amount, low = needed, 0

    def cost(cents: int) -> int:
        return (people + later) * (cents + fees.bonus_fee_cents(cents)) if cents else 0

    if cost(needed) > room:
        while amount - low > 1:  # the dearest amount that fits in
            middle = (low + amount) // 2
            low, amount = (middle, amount) if cost(middle) <= room else (low, middle)
        amount = low
    return TopUpOffer(
        campaign=campaign,
        floor_cents=floor,
        hourly_cents=int(median_hourly_cents(work)),
        reaches_cents=int(median_hourly_cents(work, more_cents=amount)),
        needed_cents=needed,
        amount_cents=amount,
        people=people,
        later=later,
        each_cents=amount + fees.bonus_fee_cents(amount) if amount else 0,
        room_cents=room,
    )


def places_to_come(campaign: Campaign) -> int:
    """People who may still do the work there, at most."""
    if campaign.state == CampaignState.LIVE:
        return max(0, campaign.assignments - topped_up(campaign).count())
    begun = campaign.assignments_taken.filter(state=AssignmentState.OPENED, session__is_verified__in=[True])
    return begun.count()


def room_cents(campaign: Campaign) -> int:
    """What the tightest of its three caps leaves for bonuses."""
    room = campaign.cap_cents - committed_cents(campaign)
    others = (budget_of(campaign.study, campaign.currency), month_budget(campaign.environment))
    return max(0, min([room, *(one.left_cents for one in others if one.left_cents is not None)]))


def awaiting_top_up(campaign: Campaign) -> QuerySet[Assignment]:
    """Of a campaign that was topped up: who has come since, and has not got theirs."""
    if not CampaignTopUp.objects.filter(campaign=campaign).exists():
        return campaign.assignments_taken.none()
    paid = Payment.objects.filter(campaign=campaign, cause=EQUAL_TOP_UP)
    return topped_up(campaign).exclude(pk__in=paid.values("assignment_id"))


def awaiting_top_ups(campaigns: Collection[Campaign]) -> Mapping[int, int]:
    """By campaign, of those that were topped up: how many have come since and have not got theirs."""
    keys = list(CampaignTopUp.objects.filter(campaign__in=list(campaigns)).values_list("campaign_id", flat=True))
    if not keys:
        return {}
    late = registry.at(lists_in_progress=True) & Q(state=AssignmentState.TIMED_OUT)
    people = Assignment.objects.filter(_is_paid(late), campaign__in=keys, person__isnull=False)
    paid = Payment.objects.filter(campaign__in=keys, cause=EQUAL_TOP_UP)
    waiting = people.exclude(pk__in=paid.values("assignment_id")).order_by().values_list("campaign")
    return dict(waiting.annotate(n=Count("pk")))
