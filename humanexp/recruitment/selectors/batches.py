"""Places that a campaign opens little by little: so many at a time, by its study's frozen plan."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Sum
from django.utils.translation import gettext as _, ngettext

from analysis.campaigns import BatchTimes
from analysis.spec import Terms
from humanexp.core import clock
from humanexp.recruitment.models import Call, CallKind, Campaign, CampaignHold
from humanexp.recruitment.pricing import Quote
from humanexp.recruitment.recruiters import capabilities_of, fees_of
from humanexp.recruitment.selectors.campaigns import is_paused
from humanexp.recruitment.states import UNFINISHED, CampaignState, HitState
from humanexp.studies.models import Study

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
        counts = {"n": self.places, "hours": self.times.every_hours}
        text = ngettext(
            "%(n)d place at the launch, then %(n)d every %(hours)d hours",
            "%(n)d places at the launch, then %(n)d every %(hours)d hours",
            self.places,
        )
        if (self.times.from_hour, self.times.until_hour) == (0, 24):
            return text % counts
        window = {"from": self.times.from_hour, "until": self.times.until_hour}
        return text % counts + _(", between %(from)d:00 and %(until)d:00 UTC") % window


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
    return can.extends and len(price.hit_sizes) == 1 and not fees_of(to).large_hit_percent


def opened_places(campaign: Campaign) -> int:
    """Of its offers, what is on its way to the recruiter among them."""
    hits = campaign.hits.exclude(state=HitState.CANCELLED)
    growing = Call.objects.filter(hit__in=hits, kind=CallKind.EXTEND, state__in=UNFINISHED)
    return sum(hits.values_list("max_assignments", flat=True)) + (growing.aggregate(n=Sum("places"))["n"] or 0)


@dataclass(frozen=True, kw_only=True)
class BatchStanding:
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


def unseen_holds(campaign: Campaign) -> list[CampaignHold]:
    """Reasons to stop that hold still and that no person has looked at."""
    return list(campaign.holds.filter(ended_at=None, seen_at=None))


def batch_standing(campaign: Campaign) -> BatchStanding | None:
    """None of a campaign whose places were opened at once."""
    plan, last = batch_plan(campaign.study), campaign.batches.order_by("-number").first()
    if plan is None or last is None:
        return None
    opened = opened_places(campaign)
    if campaign.state != CampaignState.LIVE or opened >= campaign.assignments:
        return BatchStanding(opened=opened, total=campaign.assignments, next_at=None)
    holds = unseen_holds(campaign)
    if is_paused(campaign):
        held = _("The campaign is paused.")
    elif holds:
        held = "; ".join(hold.get_reason_display() for hold in holds)
    else:
        held = ""
    return BatchStanding(
        opened=opened,
        total=campaign.assignments,
        next_at=plan.times.next_after(last.opened_at),
        held_by=held,
        can_continue=bool(holds) and not is_paused(campaign),
    )
