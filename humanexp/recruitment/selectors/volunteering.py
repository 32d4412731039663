"""Which studies are open to everybody."""

from __future__ import annotations

from django.db.models import QuerySet

from humanexp.core.errors import NotFound, existing
from humanexp.recruitment import recruiters
from humanexp.recruitment.models import Campaign
from humanexp.recruitment.selectors.approvals import approval_of
from humanexp.recruitment.selectors.state_counts import places_left
from humanexp.recruitment.states import CampaignState


def open_campaigns() -> list[Campaign]:
    """Those in which somebody could begin now, the newest first, one of each study."""
    found: dict[int, Campaign] = {}
    for campaign in _public().filter(state=CampaignState.LIVE).order_by("-launched_at", "-pk"):
        if campaign.study_id not in found and takes_people(campaign):
            found[campaign.study_id] = campaign
    return list(found.values())


def public_campaign(entry: str) -> Campaign:
    """Also after its end: its address may have been shared. Raises NotFound."""
    return existing(_public().filter(entry=entry).first(), NotFound.__doc__ or "")


def takes_people(campaign: Campaign) -> bool:
    """Whether somebody who comes now could begin."""
    is_live = campaign.state == CampaignState.LIVE
    return is_live and approval_of(campaign.study).is_in_force and places_left(campaign) > 0


def _public() -> QuerySet[Campaign]:
    return Campaign.objects.filter(recruiters.at(is_public=True)).select_related("study__family")
