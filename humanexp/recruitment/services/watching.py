"""A campaign that runs is held against its study's terms: it is paused by itself, once for each reason."""

from __future__ import annotations

from django.db import transaction

from analysis.campaigns import median_hourly_cents, share_is_above
from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Campaign, CampaignHold, CampaignTopUp, HoldReason
from humanexp.recruitment.services.pausing import pause_by_itself
from humanexp.recruitment.services.topping_up import top_up_latecomers
from humanexp.recruitment.states import CampaignState


def watch() -> int:
    """Look at every campaign of which something may still be heard; how many holds were found."""
    found = 0
    for campaign in selectors.unfinished_campaigns():
        found += _watch_wage(campaign) + _watch_returns(campaign)
        top_up_latecomers(campaign)
    return found


def _watch_wage(campaign: Campaign) -> bool:
    """Below the minimum at the median, of enough people."""
    least, floor = selectors.watched_terms(campaign.study).wage_people, selectors.floor_of(campaign)
    if not (least and floor and campaign.reward_cents):
        return False
    work = selectors.work_of(campaign)
    if len(work) < least:
        return False
    hourly = median_hourly_cents(work)
    is_topped_up = CampaignTopUp.objects.filter(campaign=campaign).exists()
    if is_topped_up or hourly >= floor:
        _end(campaign, HoldReason.WAGE)
    if hourly >= floor:
        return _end(campaign, HoldReason.WAGE_AGAIN)
    reason = HoldReason.WAGE_AGAIN if is_topped_up else HoldReason.WAGE
    return _hold(campaign, reason, measured=int(hourly), limit=floor, people=len(work), pauses=True)


def _watch_returns(campaign: Campaign) -> bool:
    """More people gave their places back than the plan's share and chance explain."""
    terms = selectors.watched_terms(campaign.study)
    if terms.return_alarm >= 1:
        return False
    found = selectors.returns_of(campaign)
    if not share_is_above(found.returned, found.started, terms.return_alarm):
        return False  # a campaign that was alarming stays so: people come and go with the hour
    return _hold(
        campaign,
        HoldReason.RETURNS,
        measured=found.returned,
        limit=round(100 * terms.return_alarm),
        people=found.started,
        pauses=terms.on_return_alarm == "pause",
    )


@transaction.atomic
def _hold(campaign: Campaign, reason: HoldReason, *, measured: int, limit: int, people: int, pauses: bool) -> bool:
    """True where this is new. Whoever opens the campaign again has seen it, and it is not paused again for the same."""
    campaign = Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=campaign.pk)
    facts = {"measured": measured, "limit": limit, "people": people, "ended_at": None}
    hold, is_new = CampaignHold.objects.get_or_create(campaign=campaign, reason=reason, defaults=facts)
    if not is_new:
        CampaignHold.objects.filter(pk=hold.pk).update(**facts)
        return False
    if pauses and campaign.state == CampaignState.LIVE and campaign.capabilities.pauses:
        pause_by_itself(campaign=campaign)
        CampaignHold.objects.filter(pk=hold.pk).update(has_paused=True)
    record(
        action="hold",
        subject=f"campaign:{campaign.pk}",
        study=campaign.study.slug,
        reason=str(reason),
        measured=measured,
        limit=limit,
        people=people,
    )
    return True


def _end(campaign: Campaign, reason: HoldReason) -> bool:
    """It is so no longer; never something new."""
    CampaignHold.objects.filter(campaign=campaign, reason=reason, ended_at=None).update(ended_at=clock.now())
    return False
