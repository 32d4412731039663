"""Places in batches: the launch opens the first, a job the others. Each is one row, so that none is opened twice."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from django.db import IntegrityError, transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import ApplicationError, CapExceeded
from humanexp.core.models import User
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Campaign, PlaceBatch, RecruiterAccount
from humanexp.recruitment.models.campaigns import YEAR_S
from humanexp.recruitment.services.approving import check_continuing
from humanexp.recruitment.services.hits import plan_growth, plan_hit
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.states import UNFINISHED, CampaignState, HitState
from humanexp.studies import permissions
from humanexp.studies.roles import Action


def plan_first(*, campaign: Campaign, plan: selectors.BatchPlan, by: User | None) -> None:
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
    standing, plan = selectors.batch_standing(campaign), selectors.batch_plan(campaign.study)
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
    month = selectors.month_budget(environment)
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
