from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from analysis.spec.terms import USUAL_APPROVAL_PERCENT, USUAL_HITS_APPROVED
from humanexp.core.errors import ApplicationError, CostNotConfirmed, InvalidRequest
from humanexp.core.selectors import user_of
from humanexp.participation.earlier_curves import earlier_choices
from humanexp.recruitment import money, recruiters, selectors, services
from humanexp.recruitment.pages.forms import OWN_TERMS, ApprovalForm, LaunchForm, LimitsForm, TermsForm
from humanexp.recruitment.pages.launch import campaign_rows, price_of
from humanexp.recruitment.pages.link_forms import host_typed, link_initial
from humanexp.recruitment.pages.views.studies import refusals_told, study_page
from humanexp.recruitment.selectors import Tally
from humanexp.recruitment.states import CampaignState
from humanexp.studies.models import Study
from humanexp.studies.permissions import studies_with
from humanexp.studies.roles import Action


@study_page("GET", "POST")
def recruit(request: HttpRequest, study: Study) -> HttpResponse:
    """Campaigns of a study, and the form that launches one at the price it shows."""
    if request.method == "POST":
        return _launch(request, study)
    to = request.GET.get("to", "")
    tally = selectors.tally_of(study)
    suggested = selectors.suggested_terms(study, tally)
    initial = _initial(suggested, to if recruiters.is_known(to) else recruiters.preferred())
    form = LaunchForm(initial=initial, earlier=earlier_choices(request.user, study))
    return _page(request, study, form, tally, free_sessions=suggested.free_sessions)


@study_page("GET")
def price(request: HttpRequest, study: Study) -> HttpResponse:
    """The exact cost of what the form holds now."""
    context = {
        "study": study,
        "price": price_of(study, TermsForm(request.GET), by=user_of(request)),
        "return_host": host_typed(request.GET),
    }
    return render(request, "recruitment/_price.html", context)


@study_page("POST")
def stop(request: HttpRequest, study: Study) -> HttpResponse:
    """Stop every campaign of the study."""
    may_finish = _may_finish(study)
    services.stop(study=study, by=user_of(request))
    messages.success(request, _("Recruiting is being stopped. %(may_finish)s") % {"may_finish": may_finish})
    return redirect("recruitment:recruit", slug=study.slug)


@study_page("POST")
def limits(request: HttpRequest, study: Study) -> HttpResponse:
    """What the study may come to over all its campaigns."""
    form = LimitsForm(request.POST)
    with refusals_told(request):
        if not form.is_valid():
            raise InvalidRequest(_("Write an amount with two decimals like 123.45, or nothing for no limit."))
        services.set_study_cap(
            study=study,
            cap_cents=form.cleaned_data["study_cap"],
            currency=form.cleaned_data["currency"] or money.USUAL,
            by=user_of(request),
        )
        messages.success(request, _("The limit is stored."))
    return redirect("recruitment:recruit", slug=study.slug)


@study_page("POST")
def approval(request: HttpRequest, study: Study) -> HttpResponse:
    """What has become of the ethics approval: withdrawn, or in force until another day."""
    with refusals_told(request):
        if "withdrawn" in request.POST:
            services.withdraw_approval(study=study, by=user_of(request))
            messages.success(request, _("No one new can start. %(may_finish)s") % {"may_finish": _may_finish(study)})
        else:
            form = ApprovalForm(request.POST)
            if not form.is_valid():
                raise InvalidRequest(_("Enter the last day of the approval like 2027-03-31, or nothing."))
            services.renew_approval(study=study, by=user_of(request), **form.cleaned_data)
            messages.success(request, _("The approval is in force as stated."))
    return redirect("recruitment:recruit", slug=study.slug)


@study_page("POST")
def rejections(request: HttpRequest, study: Study) -> HttpResponse:
    """Whether a rejection in this study takes two people."""
    wanted = "rejections_need_two" in request.POST
    services.set_review_policy(study=study, rejections_need_two=wanted, by=user_of(request))
    messages.success(request, _("Stored; what is rejected already stays so."))
    return redirect("recruitment:recruit", slug=study.slug)


def _may_finish(study: Study) -> str:
    """What happens to those who have begun: whoever is promised a reward gets it."""
    rewards = study.campaigns.filter(state=CampaignState.LIVE).values_list("reward_cents", flat=True)
    if any(rewards):
        return _("People who have begun can finish, and are paid.")
    return _("People who have begun can finish.")


def _launch(request: HttpRequest, study: Study) -> HttpResponse:
    form = LaunchForm(request.POST, earlier=earlier_choices(request.user, study))
    if not form.is_valid():
        return _refused(request, study, form, 422)
    try:
        campaign = services.publish(
            study=study,
            terms=form.launch_terms,
            confirm_total_cents=form.confirmed_cents,
            shown_campaigns=form.cleaned_data["shown_campaigns"],
            by=user_of(request),
        )
    except CostNotConfirmed as error:
        form.add_error("confirm_total", error.message)
        return _refused(request, study, form, 409)
    except ApplicationError as error:
        field = next((name for name in error.fields if name in form.fields), None)
        form.add_error(field, error.message)
        return _refused(request, study, form, error.status_code)
    launched = _("Launched on %(environment)s.") % {"environment": recruiters.name_of(campaign.environment)}
    is_public = campaign.capabilities.is_public
    messages.success(request, _("The study is open to volunteers.") if is_public else launched)
    return redirect("recruitment:recruit", slug=study.slug)


def _refused(request: HttpRequest, study: Study, form: LaunchForm, status: int) -> HttpResponse:
    tally = selectors.tally_of(study)
    free_sessions = selectors.free_sessions(study, tally)
    return _page(request, study, form, tally, free_sessions=free_sessions, status=status)


def _page(
    request: HttpRequest, study: Study, form: LaunchForm, tally: Tally, *, free_sessions: int, status: int = 200
) -> HttpResponse:
    terms = TermsForm(form.data if form.is_bound else {**form.initial})
    priced = price_of(study, terms, tally, free_sessions=free_sessions, by=user_of(request))
    rows = campaign_rows(tally)
    context: dict[str, Any] = {
        "study": study,
        "form": form,
        "campaigns": rows,
        "may_finish": _may_finish(study),
        "stays_stopped": any(
            campaign.state == CampaignState.LIVE and not campaign.capabilities.reopens
            for campaign in tally.campaigns.values()
        ),
        "is_live": any(campaign.state == CampaignState.LIVE for campaign in tally.campaigns.values()),
        "free_sessions": free_sessions,
        "attention": selectors.attention(study, tally),
        "excluded": selectors.exclusions(study.family).count(),
        "notes": _notes(),
        "splitting": " ".join(recruiters.those(pays=True, splits=True)),
        "paid": " ".join(name for name in recruiters.offered() if recruiters.capabilities_of(name).pays),
        "only": {term: _with_term(term) for term in OWN_TERMS},
        "public": " ".join(name for name in recruiters.offered() if recruiters.capabilities_of(name).is_public),
        "earlier": form.earlier,
        "offers": selectors.offers_that_choose_people(studies_with(request.user, Action.LAUNCH)),
        "moneys": selectors.money_of(tally),
        "budgets": selectors.budgets_of(study, tally, *([priced.currency] if priced else [])),
        "price": priced,
        "return_host": host_typed(terms.data if form.is_bound else form.initial),
        "approval": selectors.approval_of(study),
        "rejections_need_two": selectors.rejections_need_two(study),
    }
    return render(request, "recruitment/recruit.html", context, status=status)


def _notes() -> list[tuple[str, str]]:
    """What needs more words than its name, each once, with the accounts that it is about."""
    found: dict[str, list[str]] = {}
    for name in recruiters.offered():
        if note := str(recruiters.kind_of(name).note):
            found.setdefault(note, []).append(name)
    return [(note, " ".join(names)) for note, names in found.items()]


def _initial(suggested: selectors.SuggestedTerms, to: str) -> dict[str, Any]:
    can = recruiters.capabilities_of(to)
    return {
        "to": to,
        "assignments": max(1, suggested.assignments),
        "reward": money.decimal(suggested.reward_cents),
        "hits": TermsForm.SMALL,
        "title": suggested.title,
        "description": suggested.description,
        "keywords": suggested.keywords,
        "estimated_minutes": suggested.estimated_minutes,
        "approval_days": 3,
        "contact": suggested.contact,
        **link_initial(suggested.link),
        # a recruiter of our own house is small and new: what its people have done elsewhere, it cannot know; one that
        # asks its people about themselves counts no approved work
        **(_USUAL_REQUIREMENTS if can.pays_out and not (can.is_own_ground or can.knows_people) else {}),
    }


_USUAL_REQUIREMENTS = {"approval_percent": USUAL_APPROVAL_PERCENT, "hits_approved": USUAL_HITS_APPROVED}


PAGE_SIZE = 50


@study_page("GET")
def exclusions(request: HttpRequest, study: Study) -> HttpResponse:
    """The list of the family, by code and note."""
    query = request.GET.get("query", "").strip()[:80]
    page = Paginator(selectors.exclusions(study.family, query), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "page": page,
        "query": query,
        "total": page.paginator.count if not query else selectors.exclusions(study.family).count(),
    }
    return render(request, "recruitment/exclusions.html", context)


@study_page("GET", "POST")
def exclusion(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """One entry, and what it means to take it off; that is shown before it is done."""
    found = get_object_or_404(selectors.exclusions(study.family), pk=pk)
    if request.method == "GET":
        others = study.family.studies.exclude(pk=study.pk).order_by("pk")
        return render(request, "recruitment/exclusion.html", {"study": study, "exclusion": found, "others": others})
    with refusals_told(request):
        services.lift_exclusion(exclusion=found, study=study, by=user_of(request))
        messages.success(request, _("%(code)s may take part from now on.") % {"code": found.code})
    return redirect("recruitment:exclusions", slug=study.slug)


def _with_term(term: str) -> str:
    """Accounts of the kinds to which a field of the form means something."""
    return " ".join(name for name in recruiters.offered() if term in recruiters.kind_of(name).terms)
