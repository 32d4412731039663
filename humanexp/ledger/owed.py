"""Who is owed money and does not have it, and why: the one list behind monitor, settling, jobs, pages and tests.

Every reason for which somebody is owed something stands here, and every reason for which it is not simply paid, each
with what a person can do about it. Whoever would have to be paid and is in no row is in no list at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil

from django.conf import settings
from django.db import models
from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Coalesce, Concat

from humanexp.core import clock
from humanexp.ledger.budgets import budget_of, committed_cents, month_budget, place_charge
from humanexp.ledger.models import EXTRAS, Call, CallKind, CampaignTopUp, Payment, RejectionProposal
from humanexp.ledger.terms import Policy, released_cents
from humanexp.ledger.wages import awaiting_top_up
from humanexp.participation.models import DamagedPicture, Session, SessionState
from humanexp.recruiters import money, registry
from humanexp.recruiters.campaigns import pay_on_leaving
from humanexp.recruiters.models import UNMATCHED, Assignment, Campaign, Evidence, RecruiterAccount
from humanexp.recruiters.money import Charge
from humanexp.recruiters.registry import fees_of
from humanexp.recruiters.states import LISTED, UNSETTLED, AssignmentState, ProposalState, WriteState
from humanexp.studies.models import Study

#: Seen here, and not listed by the recruiter.
BEGUN = (AssignmentState.OPENED, AssignmentState.RETURNED)


def finished_not_submitted(*studies: Study, campaigns: Collection[Campaign] | None = None) -> QuerySet[Assignment]:
    """People who answered everything, were kept from it by a damaged picture or by the end of their time, or left where
    that is paid, and whose time to submit is over.

    `campaigns`: of these studies, where they were read already.
    """
    now = clock.now()
    begun = Assignment.objects.filter(
        campaign__study__in=studies, state__in=BEGUN, person__isnull=False, paid_by_hand_at=None
    )
    completed = Session.objects.filter(study__in=studies, state=SessionState.COMPLETED)
    kept_from = DamagedPicture.objects.filter(session__study__in=studies, session__completed_at=None)
    cut_short = Session.objects.filter(study__in=studies, out_of_time=True)
    worked = Q(session__in=completed) | Q(session__in=kept_from.values("session")) | Q(session__in=cut_short)
    if pay_leavers := [study.pk for study in studies if pay_on_leaving(study) != "none"]:
        left = Q(session__left_at__isnull=False) | Q(session__erase_after__isnull=False)
        worked |= left & Q(campaign__study__in=pay_leavers, campaign__reward_cents__gt=0)
    finished = begun.filter(worked).exclude(registry.at(vouches=False))
    over = Q(state=AssignmentState.RETURNED)
    alike: dict[timedelta, list[int]] = {}
    for campaign in Campaign.objects.filter(study__in=studies) if campaigns is None else campaigns:
        alike.setdefault(campaign.assignment_duration, []).append(campaign.pk)
    for duration, pks in alike.items():
        over |= Q(campaign__in=pks, state=AssignmentState.OPENED, opened_at__lt=now - duration)
    # a bonus, maybe on other work of the same person, names the assignment that it is for
    cause = Concat(Value("assignment-"), Cast(OuterRef("pk"), CharField()), output_field=CharField())
    paid = Payment.objects.filter(kind=CallKind.COMPENSATION, assignment__person=OuterRef("person"), cause=cause)
    waiting = finished.filter(over).filter(~Exists(paid))
    return waiting.select_related("person__participant", "session", "campaign").order_by("pk")


def reached_by_bonus(rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Those of them whom the recruiter pays a bonus: for what was not submitted, or on other work that it lists."""
    listed = Assignment.objects.filter(person=OuterRef("person"), state__in=LISTED)
    return rows.filter(registry.at(lists_in_progress=True) | Exists(listed))


def owed_cents(assignment: Assignment) -> int:
    """What such a person is owed: the pay, or of somebody who left, what the study pays for the minutes until then."""
    return owed_of(assignment.campaign, assignment.session, pay=assignment.campaign.reward_cents)


def owed_of(campaign: Campaign, session: Session | None, *, pay: int) -> int:
    """The same where `pay` is what one person gets, in the smallest unit of some currency."""
    if session is None or session.out_of_time or pay_on_leaving(campaign.study) != "share":
        return pay
    until = session.left_at or (session.withdrawn_at if session.erase_after else None)
    if until is None:
        return pay
    share = (until - session.opened_at) / timedelta(minutes=max(1, campaign.estimated_minutes))
    return max(1, ceil(pay * min(1.0, share)))


class Why(models.TextChoices):
    """For what somebody is owed money."""

    SUBMITTED = "submitted", "submitted"
    LATE = "late", "finished, and the recruiter's time ran out"
    NOT_SUBMITTED = "not-submitted", "did the work, and never submitted it"
    TOP_UP = "top-up", "the top-up that everyone got"


class Hold(models.TextChoices):
    """Why it is not paid with the others."""

    LOOK = "look", "a person looks first"
    NO_PICTURES = "no-pictures", "not one picture was fetched: a person looks first"
    RETURN = "return", "asked to give the place back"
    PROPOSED = "proposed", "a rejection waits for a second person"
    #: nothing is listed that could be approved: a compensation is a person's word
    OFFER = "offer", "the recruiter lists no submission: a person releases the money"
    BY_HAND = "by-hand", "the recruiter pays bonuses for submitted work alone, and lists none of this person"
    DAY_CAP = "day-cap", "the day's cap of this study is reached"
    CAMPAIGN_CAP = "campaign-cap", "beyond the cap of the campaign"
    STUDY_CAP = "study-cap", "beyond the cap of the study"
    MONTH_CAP = "month-cap", "beyond the month's cap of the recruiter's account"
    #: see `first_bonus`
    FIRST_BONUS = "first-bonus", "no bonus of this account has been seen to arrive yet"
    FIRST_BONUS_SENT = "first-bonus-sent", "the first bonus of this account is on its way"


@dataclass(frozen=True, kw_only=True)
class Owed:
    """What one person is owed for one assignment."""

    #: key of the assignment
    assignment: int
    campaign: Campaign
    why: Why
    amount_cents: int
    charge: Charge
    #: when it became due
    since: datetime | None
    hold: Hold | None = None

    @property
    def cost_cents(self) -> int:
        return self.amount_cents + self.charge.cents

    @property
    def is_bonus(self) -> bool:
        """Paid beside the rewards, and therefore by what the caps leave."""
        return self.why is not Why.SUBMITTED


def owed(*studies: Study, policy: Policy | None = None) -> list[Owed]:
    """All of it, as it would be paid: submissions first, each kind by how long it waits.

    `policy`: of one study, those alone who are due by it, and what its cap of a day leaves.
    """
    campaigns = {one.pk: one for one in Campaign.objects.filter(study__in=studies).select_related("study")}
    paying = {pk: one for pk, one in campaigns.items() if one.capabilities.vouches}
    if not paying:
        return []
    rows = [*_submitted(paying, policy), *_late(paying, policy)]
    if policy is not None:
        return list(_within(policy, _capped(rows)))
    return list(_capped([*rows, *_topped_up(paying), *_not_submitted(studies, paying)]))


def payable(rows: Iterable[Owed]) -> list[Owed]:
    """Those whom settling pays now; a top-up of everyone is paid by itself."""
    return [row for row in rows if row.hold is None and row.why is not Why.TOP_UP]


def sums_of(rows: Iterable[Owed]) -> dict[str, int]:
    """What they come to with fees, in each currency."""
    return money.summed((row.campaign.currency, row.cost_cents) for row in rows)


def held_by_policies(studies: Collection[Study], policies: Mapping[int, Policy]) -> Mapping[int, int]:
    """By study, people who are due by its policy, and whom its cap of a day keeps waiting."""
    held: dict[int, int] = {}
    for study in studies:
        policy = policies[study.pk]
        if policy.cap_cents is not None:
            count = sum(row.hold is Hold.DAY_CAP for row in owed(study, policy=policy))
            held |= {study.pk: count} if count else {}
    return held


def first_bonus(environment: str) -> Hold | None:
    """Where a bonus is sent once and looked for afterwards, it has to be known that one can be seen there at all: until
    one was, a dear one is sent on a person's word alone, and one at a time."""
    if registry.capabilities_of(environment).repeats.bonus != "never":
        return None
    if RecruiterAccount.objects.filter(environment=environment, bonus_proved_at__isnull=False).exists():
        return None
    on_its_way = Payment.objects.filter(environment=environment, kind__in=EXTRAS, state__in=UNSETTLED)
    return Hold.FIRST_BONUS_SENT if on_its_way.exists() else Hold.FIRST_BONUS


def _submitted(campaigns: Mapping[int, Campaign], policy: Policy | None) -> Iterator[Owed]:
    rewards = Payment.objects.filter(assignment=OuterRef("pk"), kind=CallKind.REWARD)
    rejections = Call.objects.filter(assignment=OuterRef("pk"), kind=CallKind.REJECT).exclude(state=WriteState.REFUSED)
    proposals = RejectionProposal.objects.filter(assignment=OuterRef("pk"), state=ProposalState.WAITING)
    submitted = Assignment.objects.filter(campaign__in=list(campaigns), state=AssignmentState.SUBMITTED)
    if policy is not None:
        submitted = submitted.filter(policy.due("submitted_at"))
    rows = submitted.filter(~Exists(rewards), ~Exists(rejections)).annotate(is_proposed=Exists(proposals))
    columns = (
        *("pk", "campaign", "hit__max_assignments", "submitted_at", "evidence", "cleared_at", "return_due_at"),
        "paid_by_hand_at",
    )
    charges: dict[tuple[int, int], Charge] = {}
    now = clock.now()
    for pk, key, size, at, evidence, cleared_at, return_due_at, by_hand_at, is_proposed in rows.order_by(
        "submitted_at", "pk"
    ).values_list(*columns, "is_proposed"):
        campaign, hit_size = campaigns[key], size or 1
        if (key, hit_size) not in charges:
            charges[key, hit_size] = place_charge(campaign, hit_size)
        hold: Hold | None = None
        if is_proposed:
            hold = Hold.PROPOSED
        elif (evidence in UNMATCHED or by_hand_at is not None) and cleared_at is None:
            hold = Hold.NO_PICTURES if evidence == Evidence.NO_PICTURES else Hold.LOOK
            hold = Hold.RETURN if return_due_at is not None and return_due_at > now else hold
        yield Owed(
            assignment=pk,
            campaign=campaign,
            why=Why.SUBMITTED,
            amount_cents=campaign.reward_cents,
            charge=charges[key, hit_size],
            since=at,
            hold=hold,
        )


def finished_late(campaigns: Collection[int]) -> QuerySet[Assignment]:
    """Who did the whole of it, or what there was time for, ran out of the recruiter's time, and is owed the reward."""
    late = Assignment.objects.filter(
        registry.at(lists_in_progress=True), campaign__in=campaigns, state=AssignmentState.TIMED_OUT
    )
    # without evidence, nobody has weighed it yet
    cut_short = Q(session__out_of_time=True) & ~Q(evidence=Evidence.NONE)
    worked = Q(session__state=SessionState.SUBMITTED) | cut_short
    late = late.filter(worked, campaign__reward_cents__gt=0, person__isnull=False)
    return late.exclude(calls__kind=CallKind.COMPENSATION)


def _late(campaigns: Mapping[int, Campaign], policy: Policy | None) -> Iterator[Owed]:
    rows = finished_late(list(campaigns)).annotate(ended_at=Coalesce("session__completed_at", "session__left_at"))
    if policy is not None:
        rows = rows.filter(policy.due("ended_at"))
    columns = ("pk", "campaign", "ended_at", "session__pictures_fetched", "evidence")
    for pk, key, at, fetched, evidence in rows.order_by("ended_at", "pk").values_list(*columns):
        campaign = campaigns[key]
        # empty: kept, and none fetched; null: not kept in those days
        hold = Hold.NO_PICTURES if fetched is not None and not int(fetched or "0", 16) else None
        hold = Hold.LOOK if evidence == Evidence.HALF_UNDONE else hold
        yield _bonus(pk, campaign, Why.LATE, campaign.reward_cents, at, hold)


def _topped_up(campaigns: Mapping[int, Campaign]) -> Iterator[Owed]:
    for top_up in CampaignTopUp.objects.filter(campaign__in=list(campaigns)):
        campaign = campaigns[top_up.campaign_id]
        for pk, at in awaiting_top_up(campaign).values_list("pk", "submitted_at"):
            yield _bonus(pk, campaign, Why.TOP_UP, top_up.amount_cents, at)


def _not_submitted(studies: Collection[Study], campaigns: Mapping[int, Campaign]) -> Iterator[Owed]:
    rows = finished_not_submitted(*studies)
    reached = set(reached_by_bonus(rows).values_list("pk", flat=True))
    for row in rows:
        at = row.session.completed_at if row.session is not None else None
        hold = Hold.OFFER if row.pk in reached else Hold.BY_HAND
        yield _bonus(row.pk, campaigns[row.campaign_id], Why.NOT_SUBMITTED, owed_cents(row), at, hold)


def _bonus(pk: int, campaign: Campaign, why: Why, cents: int, at: datetime | None, hold: Hold | None = None) -> Owed:
    charge = fees_of(campaign.environment).on_bonus(cents)
    return Owed(assignment=pk, campaign=campaign, why=why, amount_cents=cents, charge=charge, since=at, hold=hold)


def _capped(rows: Iterable[Owed]) -> Iterator[Owed]:
    """With what the caps hold back of that which is paid as a bonus, one after the other."""
    left: dict[tuple[Hold, str], int | None] = {}
    first: dict[str, Hold | None] = {}
    for row in rows:
        if row.hold is not None or not row.is_bonus:
            yield row
            continue
        campaign = row.campaign
        environment, study = campaign.environment, f"{campaign.study_id}/{campaign.currency}"
        names = (
            (Hold.CAMPAIGN_CAP, str(campaign.pk)), (Hold.STUDY_CAP, study), (Hold.MONTH_CAP, environment),
        )  # fmt: skip
        for hold, name in names:
            if (hold, name) not in left:
                left[hold, name] = _room(hold, campaign)
        short = next((key[0] for key in names if (room := left[key]) is not None and row.cost_cents > room), None)
        if short is None and row.amount_cents > settings.FIRST_BONUS_CAP_CENTS:
            if environment not in first:
                first[environment] = first_bonus(environment)
            short = first[environment]
        if short is None:
            for key in names:
                room = left[key]
                left[key] = None if room is None else room - row.cost_cents
        yield replace(row, hold=short)


def _room(cap: Hold, campaign: Campaign) -> int | None:
    """What a cap leaves; None: there is none."""
    if cap is Hold.CAMPAIGN_CAP:
        return campaign.cap_cents - committed_cents(campaign)
    if cap is Hold.STUDY_CAP:
        return budget_of(campaign.study, campaign.currency).left_cents
    return month_budget(campaign.environment).left_cents


def _within(policy: Policy, rows: Iterable[Owed]) -> Iterator[Owed]:
    """With what the policy's cap of a day holds back: nobody overtakes who waits longer."""
    left: dict[str, int] = {}
    for row in rows:
        if row.hold is not None or policy.cap_cents is None:
            yield row
            continue
        currency = row.campaign.currency
        if currency not in left:
            left[currency] = policy.cap_cents - released_cents(row.campaign.study, currency)
        left[currency] -= row.cost_cents
        yield replace(row, hold=Hold.DAY_CAP if left[currency] < 0 else None)
