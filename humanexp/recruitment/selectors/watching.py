"""How a campaign that runs stands against its study's terms: what an hour pays, and who gives places back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from analysis.campaigns import Work, equal_top_up, median_hourly_cents
from analysis.spec import Terms
from humanexp.participation.models import FINISHED, counting
from humanexp.participation.selectors.working_times import minutes_of
from humanexp.recruitment import recruiters
from humanexp.recruitment.models import EXTRAS, Assignment, Campaign, CampaignHold, CampaignTopUp, HoldReason, Payment
from humanexp.recruitment.models.campaigns import UNMATCHED, Evidence
from humanexp.recruitment.recruiters import fees_of
from humanexp.recruitment.selectors.budgets import budget_of, committed_cents, month_budget
from humanexp.recruitment.selectors.wages import least_hourly_of
from humanexp.recruitment.states import AssignmentState, CampaignState, WriteState
from humanexp.studies.models import Population, Study

#: The cause of the equal top-up in the ledger: once for an assignment.
EQUAL_TOP_UP = "equal-top-up"
#: The cause of a reward, also of one that is paid as a bonus to somebody whose time ran out.
SUBMISSION = "submission"
_WATCHED = ("least_hourly_cents", "wage_people", "return_alarm", "on_return_alarm")


def watched_terms(study: Study) -> Terms:
    """What the study's frozen plan says of a campaign that runs."""
    stated = study.configuration.get("recruitment") or {}
    known = {name: stated[name] for name in _WATCHED if name in stated}
    return Terms.from_dict(known, version=study.configuration.get("spec", 1))


def floor_of(campaign: Campaign) -> int:
    """Least pay of an hour there, in its currency; 0: none."""
    return least_hourly_of(campaign.study, campaign.currency, {campaign.environment})


def topped_up(campaign: Campaign) -> QuerySet[Assignment]:
    """Everybody whom an equal top-up is for: who has done the work and is paid for it."""
    paid = _is_paid(Q(state=AssignmentState.TIMED_OUT) if campaign.capabilities.pays_unlisted else None)
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
class Returns:
    """People of a campaign who started, and those of them who gave their places back."""

    started: int
    returned: int


def returns_of(campaign: Campaign) -> Returns:
    """Whoever read the consent and left, or had the wrong device, has not started and is not among them.

    Where a recruiter lists people at work, only those count whom it has named: an id can be made up.
    """
    rows = campaign.assignments_taken.all()
    if campaign.capabilities.lists_in_progress:
        rows = rows.filter(hit__isnull=False)
    states = list(rows.order_by().values_list("state", flat=True))
    return Returns(started=len(states), returned=states.count(AssignmentState.RETURNED))


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
    late = recruiters.at(pays_unlisted=True) & Q(state=AssignmentState.TIMED_OUT)
    people = Assignment.objects.filter(_is_paid(late), campaign__in=keys, person__isnull=False)
    paid = Payment.objects.filter(campaign__in=keys, cause=EQUAL_TOP_UP)
    waiting = people.exclude(pk__in=paid.values("assignment_id")).order_by().values_list("campaign")
    return dict(waiting.annotate(n=Count("pk")))


def open_holds(campaigns: Collection[Campaign]) -> QuerySet[CampaignHold]:
    """What the program has found in these, as long as it is so. Who is owed something is owed it after a stop, too."""
    found = CampaignHold.objects.filter(campaign__in=list(campaigns), ended_at=None)
    over = Q(reason=HoldReason.RETURNS) & ~Q(campaign__state=CampaignState.LIVE)
    return found.exclude(over).select_related("campaign__study")
