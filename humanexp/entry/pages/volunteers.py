"""The public page: which studies are open to everybody, and one of them as anybody may know it."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from humanexp.core.errors import NotFound, existing
from humanexp.core.languages import begin_in
from humanexp.ledger.payments import places_left
from humanexp.recruiters.campaigns import ethics_of, facts_of, minutes_told, public_campaigns
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.states import CampaignState
from humanexp.recruiting.approvals import approval_of
from humanexp.studies.facts import StudyFacts, language_of_study


def open_campaigns() -> list[Campaign]:
    """Those in which somebody could begin now, the newest first, one of each study."""
    found: dict[int, Campaign] = {}
    for campaign in public_campaigns().filter(state=CampaignState.LIVE).order_by("-launched_at", "-pk"):
        if campaign.study_id not in found and takes_people(campaign):
            found[campaign.study_id] = campaign
    return list(found.values())


def public_campaign(entry: str) -> Campaign:
    """Also after its end: its address may have been shared. Raises NotFound."""
    return existing(public_campaigns().filter(entry=entry).first(), NotFound.__doc__ or "")


def takes_people(campaign: Campaign) -> bool:
    """Whether somebody who comes now could begin."""
    is_live = campaign.state == CampaignState.LIVE
    return is_live and approval_of(campaign.study).is_in_force and places_left(campaign) > 0


@dataclass(frozen=True, kw_only=True)
class OpenStudy:
    """What anybody may know of it before they decide to read on."""

    entry: str
    title: str
    description: str
    #: of title and description
    language: str
    facts: StudyFacts
    minimum_age: int
    #: together with a parent or guardian
    takes_minors: bool
    #: somebody who comes now could begin
    is_open: bool


def open_study(campaign: Campaign) -> OpenStudy:
    ethics = ethics_of(campaign.study)
    return OpenStudy(
        entry=campaign.entry,
        title=campaign.title,
        description=campaign.description,
        language=language_of_study(campaign.study),
        facts=facts_of(campaign, minutes=minutes_told(campaign)),
        minimum_age=ethics.minimum_age,
        takes_minors=ethics.guardian_consent,
        is_open=takes_people(campaign),
    )


@require_safe
@never_cache
def volunteer(request: HttpRequest) -> HttpResponse:
    """Every study that is open now."""
    studies = [open_study(campaign) for campaign in open_campaigns()]
    return render(request, "recruitment/take/volunteer.html", {"studies": studies, "address": _address(request)})


@require_safe
@never_cache
def study(request: HttpRequest, entry: str) -> HttpResponse:
    """One of them, or one that was open."""
    try:
        campaign = public_campaign(entry)
    except NotFound:
        nothing: dict[str, object] = {"studies": [], "address": _address(request)}
        return render(request, "recruitment/take/volunteer.html", nothing, status=404)
    begin_in(request, language_of_study(campaign.study))
    page = {"one": open_study(campaign), "address": _address(request)}
    return render(request, "recruitment/take/volunteer_study.html", page)


def _address(request: HttpRequest) -> str:
    """Of the page, as people outside know it, without what somebody wrote behind it."""
    return f"{settings.PUBLIC_URL.rstrip('/')}{request.path}"
