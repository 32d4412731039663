from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from humanexp.core.errors import ApplicationError, CostNotConfirmed
from humanexp.core.models import User
from humanexp.experiments.models import Study
from humanexp.recruitment import money, pricing, selectors, services
from humanexp.recruitment.forms import LaunchForm, TermsForm
from humanexp.recruitment.models import Environment
from humanexp.recruitment.services.deliveries import entry_url
from humanexp.recruitment.services.publishing import SMALL_HIT
from humanexp.recruitment.states import CampaignState
from humanexp.recruitment.views.studies import study_of


@login_required
@require_http_methods(["GET", "POST"])
def recruit(request: HttpRequest, slug: str) -> HttpResponse:
    """Campaigns of a study, and the form that launches one at the price it shows."""
    study = study_of(request, slug)
    if request.method == "POST":
        return _launch(request, study)
    return _page(request, study, LaunchForm(initial=_initial(study)))


@login_required
@require_GET
def price(request: HttpRequest, slug: str) -> HttpResponse:
    """The exact cost of what the form holds now."""
    study = study_of(request, slug)
    return render(request, "recruitment/_price.html", _price(study, TermsForm(request.GET)))


@login_required
@require_POST
def stop(request: HttpRequest, slug: str) -> HttpResponse:
    """Stop every campaign of the study."""
    study = study_of(request, slug)
    services.stop(study=study, by=_user(request))
    messages.success(request, _("Recruiting is being stopped. Who has begun may finish, and is paid."))
    return redirect("recruitment:recruit", slug=study.slug)


def _launch(request: HttpRequest, study: Study) -> HttpResponse:
    form = LaunchForm(request.POST)
    if not form.is_valid():
        return _page(request, study, form, status=422)
    try:
        campaign = services.publish(study=study, by=_user(request), **form.campaign)
    except CostNotConfirmed as error:
        form.add_error("confirm_total", error.message)
        return _page(request, study, form, status=409)
    except ApplicationError as error:
        form.add_error(None, error.message)
        return _page(request, study, form, status=error.status_code)
    messages.success(
        request,
        _("Launched on %(environment)s.") % {"environment": campaign.get_environment_display()},
    )
    return redirect("recruitment:recruit", slug=study.slug)


def _page(request: HttpRequest, study: Study, form: LaunchForm, status: int = 200) -> HttpResponse:
    campaigns = [
        {
            "campaign": campaign,
            "entry_url": entry_url(campaign),
            "places_left": selectors.places_left(campaign),
            "hits": campaign.hits.all(),
        }
        for campaign in selectors.campaigns_of(study)
    ]
    terms = TermsForm(form.data if form.is_bound else {**form.initial})
    context: dict[str, Any] = {
        "study": study,
        "form": form,
        "campaigns": campaigns,
        "is_live": study.campaigns.filter(state=CampaignState.LIVE).exists(),
        "free_sessions": selectors.free_sessions(study),
        "attention": selectors.attention(study),
        **_price(study, terms),
    }
    return render(request, "recruitment/recruit.html", context, status=status)


def _price(study: Study, form: TermsForm) -> dict[str, Any]:
    """Context of the price partial: the quote, what it is made of, and what the other HIT size would cost."""
    if not form.is_valid():
        return {"study": study, "price": None, "terms": form}
    terms = form.terms
    quoted = services.quote(**terms)
    minutes = _minutes(form)
    hourly = pricing.hourly_cents(reward_cents=quoted.reward_cents, minutes=minutes)
    large = services.quote(**{**terms, "assignments_per_hit": terms["assignments"]})
    return {
        "study": study,
        "terms": form,
        "price": quoted,
        "total": money.dollars(quoted.total_cents),
        "hits": len(quoted.hit_sizes),
        "saved_cents": max(0, large.total_cents - quoted.total_cents),
        "account": selectors.account_of(terms["to"]),
        "hourly_cents": hourly,
        "underpaid": hourly is not None and hourly < pricing.WAGE_FLOOR_CENTS,
        "minutes": minutes,
        "is_link": terms["to"] == Environment.LINK,
        "is_real_money": terms["to"] == Environment.PRODUCTION,
        "too_many": terms["assignments"] > selectors.free_sessions(study),
        "free_sessions": selectors.free_sessions(study),
    }


def _minutes(form: TermsForm) -> int:
    stated = str(form.data.get("estimated_minutes", ""))
    return int(stated) if stated.isdigit() else 0


def _initial(study: Study) -> dict[str, Any]:
    suggested = selectors.suggested_terms(study)
    return {
        "to": Environment.MARKETPLACE,
        "assignments": max(1, suggested.assignments),
        "reward": money.dollars(suggested.reward_cents),
        "assignments_per_hit": SMALL_HIT,
        "title": suggested.title,
        "description": suggested.description,
        "keywords": suggested.keywords,
        "estimated_minutes": suggested.estimated_minutes,
        "approval_days": 3,
        "contact": suggested.contact,
    }


def _user(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None
