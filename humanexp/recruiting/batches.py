"""Places that a campaign opens little by little: so many at a time, by its study's frozen plan.

The launch opens the first batch, a job the others. Each is one row, so that none is opened twice.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Sum

from analysis.campaigns import BatchTimes
from analysis.study.terms import Terms
from humanexp.core import clock
from humanexp.core.errors import ApplicationError, CapExceeded
from humanexp.core.models import User, record
from humanexp.ledger.budgets import month_budget
from humanexp.ledger.models import Call, CallKind
from humanexp.ledger.outbox import is_paused, plan_growth, plan_hit, request_sending
from humanexp.recruiters.models import YEAR_S, Campaign, RecruiterAccount
from humanexp.recruiters.money import Quote
from humanexp.recruiters.registry import capabilities_of, fees_of
from humanexp.recruiters.states import UNFINISHED, CampaignState, HitState
from humanexp.recruiting.approvals import check_continuing
from humanexp.recruiting.models import PlaceBatch
from humanexp.studies import permissions
from humanexp.studies.models import Action, Study

_TERMS = ("batch_places", "batch_every_hours", "batch_from_hour", "batch_until_hour")


@dataclass(frozen=True, kw_only=True)
class BatchPlan:
    """What a study's frozen plan says of batches."""

    places: int
    times: BatchTimes

    def batches(self, total: int) -> int:
        return math.ceil(total / self.places)

    @property
    def words(self) -> str:
        times = self.times
        places = f"{self.places} place{'' if self.places == 1 else 's'}"
        text = f"{places} at the launch, then {self.places} every {times.every_hours} hours"
        if (times.from_hour, times.until_hour) == (0, 24):
            return text
        return f"{text}, between {times.from_hour}:00 and {times.until_hour}:00 UTC"


def batch_plan(study: Study) -> BatchPlan | None:
    """None where all places are opened at once."""
    stated = study.configuration.get("recruitment") or {}
    if not stated.get("batch_places"):
        return None
    known = {name: stated[name] for name in _TERMS if name in stated}
    terms = Terms.from_dict(known, version=study.configuration.get("spec", 1))
    times = BatchTimes(
        every_hours=terms.batch_every_hours, from_hour=terms.batch_from_hour, until_hour=terms.batch_until_hour
    )
    return BatchPlan(places=int(terms.batch_places or 0), times=times)


def takes_batches(to: str, price: Quote) -> bool:
    """Whether a launch is one offer that can grow, at a fee for a place that stays the same."""
    can = capabilities_of(to)
    return can.vouches and len(price.hit_sizes) == 1 and not fees_of(to).large_hit_percent


def opened_places(campaign: Campaign) -> int:
    """Of its offers, what is on its way to the recruiter among them."""
    hits = campaign.hits.exclude(state=HitState.CANCELLED)
    growing = Call.objects.filter(hit__in=hits, kind=CallKind.EXTEND, state__in=UNFINISHED)
    return sum(hits.values_list("max_assignments", flat=True)) + (growing.aggregate(n=Sum("places"))["n"] or 0)


@dataclass(frozen=True, kw_only=True)
class BatchProgress:
    """How far a campaign has come with its batches."""

    opened: int
    total: int
    #: when the next is due; None: all are open
    next_at: datetime | None
    #: why none is opened however long one waits; empty: nothing is in the way
    held_by: str = ""
    #: a person who has looked at the reasons can let it go on
    can_continue: bool = False

    @property
    def is_due(self) -> bool:
        return self.next_at is not None and not self.held_by and self.next_at <= clock.now()


def batch_standing(campaign: Campaign) -> BatchProgress | None:
    """None of a campaign whose places were opened at once."""
    plan, last = batch_plan(campaign.study), campaign.batches.order_by("-number").first()
    if plan is None or last is None:
        return None
    opened = opened_places(campaign)
    if campaign.state != CampaignState.LIVE or opened >= campaign.assignments:
        return BatchProgress(opened=opened, total=campaign.assignments, next_at=None)
    # reasons to stop that hold still and that no person has looked at
    holds = list(campaign.holds.filter(ended_at=None, seen_at=None))
    if is_paused(campaign):
        held = "The campaign is paused."
    elif holds:
        held = "; ".join(hold.get_reason_display() for hold in holds)
    else:
        held = ""
    return BatchProgress(
        opened=opened,
        total=campaign.assignments,
        next_at=plan.times.next_after(last.opened_at),
        held_by=held,
        can_continue=bool(holds) and not is_paused(campaign),
    )


def plan_first(*, campaign: Campaign, plan: BatchPlan, by: User | None) -> None:
    """One offer with the places of the first batch; part of the launch."""
    places = min(plan.places, campaign.assignments)
    span = plan.times.span(plan.batches(campaign.assignments)) + timedelta(seconds=campaign.lifetime_s)
    campaign.lifetime_s = min(YEAR_S, int(span.total_seconds()))
    campaign.save(update_fields=["lifetime_s"])
    plan_hit(campaign=campaign, places=places, by=by)
    PlaceBatch.objects.create(campaign=campaign, number=1, places=places)


def open_batches() -> int:
    """Open what is due, one batch of a campaign at a time; how many were opened.

    After hours in which no job ran, one batch is opened, and the next as many hours later as planned.
    """
    opened = 0
    live = Campaign.objects.filter(state=CampaignState.LIVE, batches__isnull=False).distinct()
    for campaign in live.order_by("pk"):
        # another job has opened the same one, or a cap or the approval is in the way: the next minute sees
        with suppress(IntegrityError, ApplicationError):
            opened += _open(campaign)
    return opened


@transaction.atomic
def _open(campaign: Campaign) -> bool:
    campaign = Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=campaign.pk)
    standing, plan = batch_standing(campaign), batch_plan(campaign.study)
    if standing is None or plan is None or not standing.is_due:
        return False
    hit = campaign.hits.exclude(state=HitState.CANCELLED).get()
    is_over = hit.expires_at is not None and hit.expires_at <= clock.now()
    if not hit.hit_id or is_over or hit.calls.filter(state__in=UNFINISHED).exists():
        return False
    check_continuing(campaign)
    places = min(plan.places, standing.total - standing.opened)
    call = plan_growth(hit=hit, places=places, by=None)
    _check_month(campaign.environment)
    batch = PlaceBatch.objects.create(campaign=campaign, number=campaign.batches.count() + 1, places=places)
    record(
        action="open-batch",
        subject=f"campaign:{campaign.pk}",
        study=campaign.study.slug,
        number=batch.number,
        places=places,
        target=call.payload["places"],
    )
    request_sending(environment=campaign.environment)
    return True


def _check_month(environment: str) -> None:
    """The launch has reserved the price of all; in each month, what is promised in it counts against that month."""
    RecruiterAccount.objects.select_for_update().get_or_create(environment=environment)
    month = month_budget(environment)
    if month.cap_cents is not None and month.committed_cents > month.cap_cents:
        raise CapExceeded("The month's cap leaves no room for the next batch; it is opened once there is some.")


@transaction.atomic
def continue_batches(*, campaign: Campaign, by: User) -> None:
    """A person has looked at why no batch is opened, and lets the campaign go on. Twice is once."""
    permissions.check(by, Action.LAUNCH, campaign.study)
    note_seen(campaign=campaign, by=by)


def note_seen(*, campaign: Campaign, by: User) -> None:
    """The reasons that hold the batches back hold them back no longer; part of the caller's transaction."""
    seen = campaign.holds.filter(ended_at=None, seen_at=None).update(seen_at=clock.now())
    if seen:
        record(action="continue-batches", subject=f"campaign:{campaign.pk}", study=campaign.study.slug, by=by)
