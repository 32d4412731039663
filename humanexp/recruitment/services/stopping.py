from __future__ import annotations

from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.models import User
from humanexp.experiments import members
from humanexp.experiments.models import Study
from humanexp.experiments.roles import Action
from humanexp.recruitment.models import Campaign, Hit, HitWriteKind
from humanexp.recruitment.services.hits import plan_expiry
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.services.sending import send
from humanexp.recruitment.states import CampaignState, HitState, WriteState, advance

#: More places and more time: not sent any more after a stop.
LATER_KINDS = (HitWriteKind.EXTEND, HitWriteKind.PROLONG)


def stop(*, study: Study, by: User | None = None) -> list[Campaign]:
    """Nobody new can begin; who has accepted a HIT may finish, and is paid. `send` then tells the recruiter."""
    live = Campaign.objects.filter(study=study, state=CampaignState.LIVE)
    return [stop_campaign(campaign=campaign, by=by) for campaign in live]


def stop_campaign(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """End one campaign. Twice is once."""
    members.check(by, Action.STOP, campaign.study)
    with transaction.atomic():
        campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if campaign.state != CampaignState.LIVE:
            return campaign
        advance(campaign, CampaignState.STOPPING, stopped_at=clock.now())
        for hit in campaign.hits.exclude(state=HitState.CANCELLED):
            _end(hit, by)
        if not campaign.hits.exclude(state=HitState.CANCELLED).exists():
            advance(campaign, CampaignState.STOPPED)
        record(action="stop", subject=f"campaign:{campaign.pk}", study=campaign.study.slug, by=by)
        request_sending(environment=campaign.environment)
    if campaign.is_link:
        send(environment=campaign.environment)
        campaign.refresh_from_db()
    return campaign


def _end(hit: Hit, by: User | None) -> None:
    """Expire a HIT; one that was never sent is not published at all."""
    create = hit.writes.select_for_update().get(kind=HitWriteKind.CREATE)
    if create.state in (WriteState.PLANNED, WriteState.REFUSED):
        if create.state == WriteState.PLANNED:
            advance(create, WriteState.REFUSED, last_error="Stopped before it was published.")
        advance(hit, HitState.CANCELLED)
        return
    for write in hit.writes.select_for_update().filter(kind__in=LATER_KINDS, state=WriteState.PLANNED):
        advance(write, WriteState.REFUSED, last_error="Stopped before it was sent.")
    plan_expiry(hit=hit, by=by)
