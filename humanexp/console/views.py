from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from humanexp.console.forms import PreviewForm
from humanexp.console.listing import listed_studies
from humanexp.console.overview import overview_of
from humanexp.core.errors import NotAllowed, NotFound, StudyRefused
from humanexp.core.languages import language_of
from humanexp.core.models import User
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Origin, Study
from humanexp.experiments.services import previewing
from humanexp.recruitment.consent import consent_of


@login_required
def studies(request: HttpRequest) -> HttpResponse:
    """Every study, what it waits for, and what to do next."""
    return render(request, "console/studies.html", {"studies": listed_studies(request.user)})


@login_required
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """What is going on in a study, and what waits for its researcher."""
    study = _study(request, slug)
    found = overview_of(study)
    template = "console/_overview.html" if getattr(request, "htmx", False) else "console/overview.html"
    return render(request, template, {"study": study, "overview": found})


@login_required
@require_http_methods(["GET", "POST"])
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """What participants agree to, and the way to take the study oneself."""
    study = _collected(request, slug)
    form = PreviewForm(request.POST or None, sessions=study.planned_sessions)
    if request.method == "POST" and form.is_valid():
        opened = previewing.open_preview(study=study, by=_user(request), **form.choices)
        code = previewing.issue_preview_handoff(preview=opened)
        return redirect(f"{reverse('console:run-preview', args=[slug])}#{code}")
    context = {
        "study": study,
        "form": form,
        "consent": consent_of(study, get_language() or "en"),
        "hurry": previewing.HURRY,
    }
    return render(request, "console/preview.html", context, status=422 if form.is_bound else 200)


@login_required
@require_GET
@never_cache
def run_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """The page that participants work on, with a banner; without a preview, back to where one is begun."""
    study = _collected(request, slug)
    opened = previewing.preview_of(study=study, by=_user(request))
    if opened is None:
        return redirect("console:preview", slug=slug)
    config = {
        "api": reverse("experiments:preview-session").removesuffix("session/"),
        "hurry": opened.hurry,
        "end": reverse("console:preview", args=[slug]),
    }
    with translation.override(language_of(request)):
        return render(request, "run/preview.html", {"run_config": config, "hurry": opened.hurry})


def _study(request: HttpRequest, slug: str) -> Study:
    study = experiments.visible_to(request.user).filter(slug=slug).first()
    if study is None:
        raise NotFound(f"There is no study {slug!r}, or it belongs to somebody else.")
    return study


def _collected(request: HttpRequest, slug: str) -> Study:
    study = _study(request, slug)
    if study.origin != Origin.COLLECTED:
        raise StudyRefused("The trials of this study were imported: there is nothing to take.")
    return study


def _user(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise NotAllowed
    return request.user
