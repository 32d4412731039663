"""A campaign that takes nobody new for a while, where its recruiter can do that; and a stopped link, opened again."""

from __future__ import annotations

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import Conflict, StudyRefused
from humanexp.core.models import User
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Campaign
from humanexp.recruitment.services.approving import check_continuing
from humanexp.recruitment.services.batches import note_seen
from humanexp.recruitment.services.hits import plan_pausing, plan_resuming
from humanexp.recruitment.services.launchers import check_may_launch_on
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.services.publishing import check_collects, check_pilot
from humanexp.recruitment.states import CampaignState, HitState, advance
from humanexp.studies import permissions
from humanexp.studies.models import Study
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


@transaction.atomic
def reopen_campaign(*, campaign: Campaign, by: User) -> Campaign:
    """A stopped link takes people again, at the address and on the terms it had. Twice is once.

    Only the places that nobody has taken are offered, and only as many as the plan still has sessions for.
    """
    permissions.check(by, Action.LAUNCH, campaign.study)
    check_may_launch_on(by, campaign.environment)
    check_continuing(campaign)
    # One launch of a study at a time: both count the sessions that are free.
    study = Study.objects.select_for_update(of=("self",)).get(pk=campaign.study_id)
    campaign = Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
    if campaign.state == CampaignState.LIVE:
        return campaign
    if not campaign.can_reopen:
        raise Conflict("This campaign cannot be opened again. Launch a new one: it has a new address.")
    check_collects(study)
    places, free = selectors.places_left(campaign), selectors.free_sessions(study)
    if not places:
        raise StudyRefused("Every place of this link is taken. Launch a new one for more places.")
    if places > free:
        raise StudyRefused(
            f"The plan of this study has {free} free sessions, fewer than the {places} places of this link. Launch a "
            f"new link with at most {free} places."
        )
    check_pilot(study, campaign.assignments)
    for hit in campaign.hits.select_for_update().exclude(state=HitState.CANCELLED):
        if hit.state == HitState.CLOSED:
            advance(hit, HitState.OPEN)
        hit.expires_at = None
        hit.save(update_fields=["expires_at"])
    advance(campaign, CampaignState.LIVE, stopped_at=None)
    record(action="reopen", subject=f"campaign:{campaign.pk}", study=study.slug, by=by, places=places)
    return campaign


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
