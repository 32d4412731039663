"""A campaign that takes nobody new for a while, where its recruiter can do that."""

from __future__ import annotations

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import Conflict
from humanexp.core.models import User
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Campaign
from humanexp.recruitment.services.batches import note_seen
from humanexp.recruitment.services.hits import plan_pausing, plan_resuming
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.states import CampaignState
from humanexp.studies import permissions
from humanexp.studies.roles import Action


@transaction.atomic
def pause_campaign(*, campaign: Campaign, by: User) -> None:
    """Nobody new can begin; who is at work finishes and is paid. Twice is once."""
    permissions.check(by, Action.STOP, campaign.study)
    _change(campaign, by, pauses=True)


@transaction.atomic
def resume_campaign(*, campaign: Campaign, by: User) -> None:
    """Places can be taken again. Twice is once."""
    permissions.check(by, Action.LAUNCH, campaign.study)
    _change(campaign, by, pauses=False)
    note_seen(campaign=campaign, by=by)


def pause_by_itself(*, campaign: Campaign) -> None:
    """The program has found something that a person should see first; only a person opens it again."""
    _change(campaign, None, pauses=True)


def _change(campaign: Campaign, by: User | None, *, pauses: bool) -> None:
    campaign = Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=campaign.pk)
    if campaign.state != CampaignState.LIVE or not campaign.capabilities.pauses:
        raise Conflict("This campaign cannot be paused or opened again: stop it, or launch a new one.")
    if selectors.is_paused(campaign) == pauses:
        return
    for hit in campaign.hits.exclude(hit_id=""):
        if pauses:
            plan_pausing(hit=hit, by=by)
        else:
            plan_resuming(hit=hit, by=by)
    record(action="pause" if pauses else "resume", subject=f"campaign:{campaign.pk}", study=campaign.study.slug, by=by)
    request_sending(environment=campaign.environment)
