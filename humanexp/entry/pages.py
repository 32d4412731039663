"""The entry page of a recruited person, in the recruiter's frame or on its own, and the public page. No cookies.

A GET writes nothing. The name in the address is signed and lives for an hour. Only pages that write nothing take it:
opening a session refuses it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from csp.constants import SELF
from csp.decorators import csp_replace
from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language, gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from humanexp.core import clock
from humanexp.core.errors import InvalidRequest, NotFound, StudyRefused, TooManyCalls, existing
from humanexp.core.languages import begin_in, tag_spoken
from humanexp.core.limits import caller_of
from humanexp.entry.admission import closes_here, is_full, is_over
from humanexp.entry.identity import delete_by_code, name_of, note_of
from humanexp.ledger.payments import places_left
from humanexp.ledger.terms import suggested_terms
from humanexp.participation.pages.views import run_shell
from humanexp.recruiters import registry
from humanexp.recruiters.campaigns import (
    asks_whether_repeated,
    campaign_by_entry,
    consent_of,
    ethics_of,
    facts_of,
    minutes_told,
    public_campaigns,
    run_address,
)
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.registry import kind_of
from humanexp.recruiters.states import CampaignState
from humanexp.recruiters.tickets import FormPost, Outcome
from humanexp.recruiting.approvals import approval_of
from humanexp.studies.facts import StudyFacts, language_of_study
from humanexp.studies.models import Population, Study

LIVES_S = 3600
_SALT = "humanexp.rehearsal"


def preview_entry(*, study: Study, to: str) -> str:
    """The name of the page in addresses."""
    return signing.dumps([study.pk, to], salt=_SALT)


def previewed_campaign(entry: str) -> Campaign | None:
    """The campaign as it would be launched with the suggested terms, unsaved; None for any other name."""
    try:
        pk, to = signing.loads(entry, salt=_SALT, max_age=LIVES_S)
    except signing.BadSignature:
        return None
    study = Study.objects.select_related("family").filter(pk=pk).first()
    if study is None or not registry.is_known(to):
        return None
    terms = suggested_terms(study)
    return Campaign(
        study=study,
        environment=to,
        entry=entry,
        title=terms.title,
        description=terms.description,
        reward_cents=terms.reward_cents if registry.asks(to, "reward") else 0,
        assignments=max(1, terms.assignments),
        estimated_minutes=terms.estimated_minutes,
        contact=terms.contact,
    )


#: Characters of a deletion code that are looked at: it may be typed with spaces.
LONGEST_CODE = 60
CampaignView = Callable[[HttpRequest, Campaign], HttpResponseBase]


def entry_page(
    *, rehearses: bool = False, has_form: bool = False
) -> Callable[[CampaignView], Callable[..., HttpResponseBase]]:
    """A page of the campaign that an address names, in its study's language; `rehearses`: also before the launch.

    `has_form`: it takes what somebody writes into a form of its own."""

    def decorate(view: CampaignView) -> Callable[..., HttpResponseBase]:
        @require_http_methods(["GET", "HEAD", "POST"] if has_form else ["GET"])
        @never_cache
        @wraps(view)
        def page(request: HttpRequest, entry: str) -> HttpResponseBase:
            rehearsed = previewed_campaign(entry) if rehearses else None
            try:
                campaign = rehearsed or campaign_by_entry(entry)
            except NotFound as error:
                return render(request, "recruitment/take/refused.html", _refusal(error), status=404)
            begin_in(request, language_of_study(campaign.study))
            return view(request, campaign)

        return page

    return decorate


def _refusal(error: NotFound) -> dict[str, object]:
    """No study is known here: whoever runs this installation can be asked."""
    return {"message": gettext(error.message), "facts": StudyFacts(contact=settings.CONTACT)}


@entry_page(rehearses=True)
def take(request: HttpRequest, campaign: Campaign) -> HttpResponseBase:
    """Consent and start; in a preview, what the study is about."""
    if not kind_of(campaign.environment).frames:
        return entry_shell(request, campaign)
    # The recruiter of this campaign, and nobody else, may frame the page and receive its form.
    origins = kind_of(campaign.environment).origins

    @xframe_options_exempt
    @csp_replace({"frame-ancestors": origins, "form-action": origins})
    def framed(request: HttpRequest) -> HttpResponse:
        return entry_shell(request, campaign)

    return framed(request)


@require_GET
@never_cache
def inside(request: HttpRequest, entry: str) -> HttpResponseBase:
    """The study within the entry page, for frames whose windows are blocked: the same shell, framed by nobody else."""
    campaign = campaign_by_entry(entry)
    if not kind_of(campaign.environment).frames:
        raise NotFound
    begin_in(request, language_of_study(campaign.study))

    @xframe_options_exempt
    @csp_replace({"frame-ancestors": [SELF, *kind_of(campaign.environment).origins]})
    def framed(request: HttpRequest) -> HttpResponse:
        return run_shell(request, facts_of(campaign))

    page = framed(request)
    page["Referrer-Policy"] = "no-referrer"
    return page


@entry_page()
def run(request: HttpRequest, campaign: Campaign) -> HttpResponseBase:
    """The study: the shell, with the words of this campaign. It holds nothing of any session.

    Where a recruiter's frame shows the entry page, it is in a window of its own; elsewhere in the entry page's place.
    """
    facts = facts_of(campaign, shows_code="code" in request.GET)
    if kind_of(campaign.environment).frames:
        return run_shell(request, facts)
    return run_shell(
        request,
        facts,
        way_out=reverse("recruitment:way-out", args=[campaign.entry]) if facts.leads_out else "",
        finished=reverse("recruitment:finish", args=[campaign.entry]) if closes_here(campaign) else "",
        entry=campaign.entry,
        first_page=reverse("recruitment:take", args=[campaign.entry]),
    )


@entry_page(rehearses=True)
def consent(request: HttpRequest, campaign: Campaign) -> HttpResponseBase:
    """The text that a participant agrees to, alone: to print, or to keep."""
    facts = facts_of(campaign, minutes=minutes_told(campaign))
    context = {
        "campaign": campaign,
        "study": campaign.study,
        "facts": facts,
        "consent": consent_of(campaign.study, tag_spoken(), facts),
        "today": clock.now(),
    }
    if "download" not in request.GET:
        return render(request, "recruitment/take/consent_page.html", context)
    page = render(request, "recruitment/take/consent_file.html", context)
    page["Content-Disposition"] = f'attachment; filename="{campaign.study.slug}-consent.html"'
    return page


@entry_page()
def personal(request: HttpRequest, campaign: Campaign) -> HttpResponseBase:
    """Where a personal link leads. Looking at it changes nothing: a scanner of mail uses nothing up."""
    page = {
        "followUrl": reverse("recruitment:follow", args=[campaign.entry]),
        "language": tag_spoken(),
        "texts": get_language(),
    }
    return render(
        request,
        "recruitment/take/personal.html",
        {"campaign": campaign, "study": campaign.study, "facts": facts_of(campaign), "page": page},
    )


def _room(campaign: Campaign) -> dict[str, int]:
    """What decides how large the window must be."""
    protocol = campaign.study.protocol
    if protocol is None:
        return {}
    return {name: protocol.configuration[name] for name in ("size_px", "fixation_px")}


@csrf_exempt  # no cookie is set or read: the code in the form is all that this page goes by
@entry_page(has_form=True)
def delete(request: HttpRequest, campaign: Campaign) -> HttpResponseBase:
    """Where somebody who came without an id has their answers deleted, with the code that they were given."""
    facts = facts_of(campaign)
    if not facts.gives_deletion_code:
        raise NotFound
    context: dict[str, object] = {"campaign": campaign, "study": campaign.study, "facts": facts}
    status = 200
    if request.method == "POST":
        code = request.POST.get("code", "")[:LONGEST_CODE]
        try:
            delete_by_code(campaign=campaign, code=code, caller=caller_of(request))
        except (StudyRefused, TooManyCalls) as error:
            context |= {"complaint": gettext(error.message), "code": code}
            status = error.status_code
        else:
            context["is_done"] = True
    page = render(request, "recruitment/take/delete.html", context, status=status)
    page["Referrer-Policy"] = "no-referrer"
    return page


def entry_shell(
    request: HttpRequest, campaign: Campaign, *, template: str = "recruitment/take/entry.html", **more: object
) -> HttpResponse:
    """The entry page of a campaign, for whom the address names; `template` and `more`: the same in another frame."""
    given = request.GET.dict()
    terms = campaign.site
    recruiter, is_here = kind_of(campaign.environment), closes_here(campaign)
    ticket = recruiter.ticket(given) if terms is None else terms.ticket(given)
    submit_address = fault = ""
    if not ticket.is_preview:
        try:
            way_out = recruiter.way_out(Outcome.FINISHED, ticket)
            submit_address = way_out.address if isinstance(way_out, FormPost) else ""
        except InvalidRequest as error:
            fault = gettext(error.message)
    # Where nobody lists who has finished, the completion code is told to those alone whom somebody has sent who may
    # ask for it.
    facts = facts_of(campaign, minutes=minutes_told(campaign), shows_code=is_here and bool(ticket.person))
    has_no_place = is_full(campaign)
    is_shut = has_no_place or is_over(campaign)
    is_paused = not is_shut and not approval_of(campaign.study).is_in_force
    consent = consent_of(campaign.study, tag_spoken(), facts)
    asks = asks_whether_repeated(campaign.study) and campaign.study.population == Population.PEOPLE
    context = {
        "campaign": campaign,
        "study": campaign.study,
        "facts": facts,
        "consent": consent,
        "is_preview": ticket.is_preview,
        "is_over": is_shut,
        "is_full": has_no_place,
        "is_paused": is_paused,
        "fault": fault,
        "has_window": recruiter.frames,
        "asks_whether_repeated": asks,
        # what the page's script needs to know; the ids came with the address and prove nothing
        "page": {
            "entry": campaign.entry,
            "language": tag_spoken(),
            "texts": get_language(),
            "isLink": facts.is_link,
            "hasWindow": recruiter.frames,
            "isPreview": ticket.is_preview,
            "isPaused": is_paused,
            "isTimed": facts.is_timed and not (is_shut or is_paused),
            "protocol": _room(campaign),
            "consentDigest": consent.digest,
            "minutes": facts.minutes,
            "showsCode": is_here and facts.shows_code,
            "leadsOut": facts.leads_out,
            "isUnfilled": terms is not None and terms.is_unfilled(ticket),
            "declineUrl": reverse("recruitment:decline", args=[campaign.entry]) if facts.leads_out else "",
            "wayOutUrl": reverse("recruitment:way-out", args=[campaign.entry]) if facts.leads_out else "",
            "insideUrl": reverse("recruitment:inside", args=[campaign.entry]) if recruiter.frames else "",
            "openUrl": reverse("recruitment:open", args=[campaign.entry]),
            "handoffUrl": reverse("recruitment:handoff", args=[campaign.entry]),
            "resumeUrl": reverse("recruitment:resume", args=[campaign.entry]),
            "runUrl": run_address(campaign),
            "resumeName": name_of(campaign, ticket.person),
            "note": note_of(campaign) if asks else "",
            "assignmentId": ticket.submission,
            "hitId": ticket.offer,
            "workerId": ticket.person,
            "turkSubmitTo": ticket.return_to,
            "submitAddress": submit_address,
            "simulated": campaign.study.population == Population.SCRIPTED,
        },
    }
    page = render(request, template, context | more)
    page["Referrer-Policy"] = "no-referrer"  # worker ids ride in this page's address
    return page


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
