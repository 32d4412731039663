"""What can be done with a campaign that runs, and where recruiters post events about it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from humanexp.core.errors import ApplicationError, BodyTooLarge, InvalidRequest, NotAllowed, NotFound
from humanexp.core.selectors import user_of
from humanexp.core.templatetags.components import counted
from humanexp.ledger.budgets import raise_cap
from humanexp.ledger.pages.money import refusals_told, study_page, whole_number
from humanexp.ledger.payments import free_sessions, notices
from humanexp.recruiters import money, registry
from humanexp.recruiters.campaigns import campaigns_of
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.people import assignments_of, named_in
from humanexp.recruiting import extension, people
from humanexp.recruiting.batches import continue_batches
from humanexp.recruiting.extension import pause_campaign, prolong, quote_extension, reopen_campaign, resume_campaign
from humanexp.recruiting.pages.forms import CapForm, ExtensionForm, MessageForm, ProlongingForm
from humanexp.recruiting.people import RECIPIENTS, reachable
from humanexp.recruiting.polling import hear
from humanexp.studies.models import Study


@study_page("GET", "POST")
def extend(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """More places in a campaign, at a cost that is shown before."""
    campaign = get_object_or_404(campaigns_of(study), pk=pk)
    form = ExtensionForm(request.POST if request.method == "POST" else request.GET or {"places": 9})
    context = _extension(study, campaign, form)
    if request.method == "GET":
        template = "recruitment/_extension.html" if getattr(request, "htmx", False) else "recruitment/extend.html"
        return render(request, template, context)
    if form.is_valid():
        given = form.cleaned_data
        is_real = campaign.capabilities.asks_for_total
        confirmed = given["confirm_total"] if is_real else given["shown_total"]
        try:
            extension.extend(
                campaign=campaign,
                places=given["places"],
                confirm_total_cents=confirmed,
                shown_places=given["shown_places"],
                by=user_of(request),
            )
        except ApplicationError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"{counted(given['places'], 'place is,places are')} being added.")
            return redirect("recruitment:recruit", slug=study.slug)
    return render(request, "recruitment/extend.html", context, status=422)


@study_page("POST")
def change(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """More time, or another cap; neither costs anything by itself."""
    campaign = get_object_or_404(campaigns_of(study), pk=pk)
    longer, higher = ProlongingForm(request.POST), CapForm(request.POST)
    with refusals_told(request):
        if "days" in request.POST and longer.is_valid():
            prolong(campaign=campaign, days=longer.cleaned_data["days"], by=user_of(request))
            messages.success(request, "The campaign stays open longer; the recruiter is being notified.")
        elif "cap" in request.POST and higher.is_valid():
            raise_cap(campaign=campaign, cap_cents=higher.cleaned_data["cap"], by=user_of(request))
            messages.success(request, "The limit is stored.")
        else:
            messages.error(request, "Write whole days from 1 to 365, or an amount with two decimals like 123.45.")
    return redirect("recruitment:extend", slug=study.slug, pk=pk)


@study_page("POST")
def pause(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Nobody new for a while, or again; and batches of places, once somebody has looked at an alarm."""
    campaign = get_object_or_404(campaigns_of(study), pk=pk)
    with refusals_told(request):
        if request.POST.get("act") == "continue":
            continue_batches(campaign=campaign, by=user_of(request))
            messages.success(request, "Batches of places are opened again as planned.")
        elif request.POST.get("act") == "resume":
            resume_campaign(campaign=campaign, by=user_of(request))
            messages.success(request, "The campaign is being opened again.")
        else:
            pause_campaign(campaign=campaign, by=user_of(request))
            messages.success(request, "The campaign is being paused; the recruiter is being notified.")
    return redirect("recruitment:recruit", slug=study.slug)


@study_page("POST")
def reopen(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """A stopped link takes people again."""
    campaign = get_object_or_404(campaigns_of(study), pk=pk)
    with refusals_told(request):
        reopen_campaign(campaign=campaign, by=user_of(request))
        messages.success(request, "The same address takes people again.")
    return redirect("recruitment:recruit", slug=study.slug)


def _extension(study: Study, campaign: Campaign, form: ExtensionForm) -> dict[str, Any]:
    context: dict[str, Any] = {"study": study, "campaign": campaign, "form": form, "extension": None}
    context |= {
        "longer": ProlongingForm(initial={"days": 7}),
        "higher": CapForm(initial={"cap": money.decimal(campaign.cap_cents)}),
    }
    if form.is_valid():
        try:
            extension = quote_extension(campaign=campaign, places=form.cleaned_data["places"])
        except ApplicationError as error:
            return {**context, "refusal": error.message}
        context |= {
            "extension": extension,
            "total": money.decimal(extension.total_cents) if campaign.capabilities.asks_for_total else "",
            "free_sessions": free_sessions(study),
        }
    return context


@study_page("GET", "POST")
def notify(request: HttpRequest, study: Study) -> HttpResponse:
    """Write to people who took part, through the recruiter: to a group, or to some by name."""
    form = MessageForm(request.POST or None, initial=_written_to(request, study))
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            rows = _recipients(study, given["to"], given["people"].split())
            sent = people.notify(assignments=rows, subject=given["subject"], text=given["text"], by=user_of(request))
        except ApplicationError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"{counted(len(sent), 'message is on its way,messages are on their way')}.")
            return redirect("recruitment:notify", slug=study.slug)
    context = {
        "study": study,
        "form": form,
        "counts": {choice: reachable(study, choice).count() for choice in RECIPIENTS},
        "notices": notices(study)[:50],
    }
    return render(request, "recruitment/notify.html", context, status=422 if form.is_bound else 200)


def _written_to(request: HttpRequest, study: Study) -> dict[str, str]:
    """From somebody's own page, only them."""
    pk = whole_number(request.GET.get("to"))
    row = assignments_of(study).filter(pk=pk).first() if pk is not None else None
    if row is None or row.person is None:
        return {"to": MessageForm.SUBMITTED}
    return {"to": MessageForm.NAMED, "people": row.person.participant.code}


def _recipients(study: Study, to: str, names: list[str]) -> list[Assignment]:
    if to != MessageForm.NAMED:
        return list(reachable(study, to))
    found = named_in(reachable(study, MessageForm.EVERYBODY), names)
    for number, name in enumerate(names, start=1):
        if name.upper() not in found:
            raise InvalidRequest(
                f"Line {number}: nobody of this study who can be written to is known by this id or code."
            )
    if not names:
        raise InvalidRequest("Name at least one person.")
    return [found[name.upper()] for name in names]


#: Events have a few hundred bytes.
MOST_BYTES = 16_384


@csrf_exempt  # no cookie is looked at: every delivery carries its own signature
@require_POST
def hook(request: HttpRequest, environment: str) -> HttpResponse:
    """A repeat is answered like the first; a refusal says nothing about why."""
    if not registry.is_known(environment):
        return HttpResponse(status=NotFound.status_code)
    if int(request.headers.get("Content-Length") or 0) > MOST_BYTES:
        return HttpResponse(status=BodyTooLarge.status_code)
    try:
        hear(environment=environment, headers=request.headers, body=request.body)
    except (NotFound, NotAllowed) as error:
        return HttpResponse(status=error.status_code)
    return HttpResponse(status=200)
