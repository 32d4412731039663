from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from humanexp.console.listing import listed_studies
from humanexp.console.overview import overview_of
from humanexp.core.errors import NotAllowed, NotFound, StudyRefused
from humanexp.core.models import User
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Origin, Study


@login_required
def studies(request: HttpRequest) -> HttpResponse:
    """Every study, what it waits for, and what to do next."""
    return render(
        request,
        "console/studies.html",
        {"studies": listed_studies(request.user), "has_stimuli": experiments.has_stimuli()},
    )


@login_required
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """What is going on in a study, and what waits for its researcher."""
    study = study_of(request, slug)
    found = overview_of(study)
    template = "console/_overview.html" if getattr(request, "htmx", False) else "console/overview.html"
    return render(request, template, {"study": study, "overview": found})


def study_of(request: HttpRequest, slug: str) -> Study:
    study = experiments.visible_to(request.user).filter(slug=slug).first()
    if study is None:
        raise NotFound(f"There is no study {slug!r}, or it belongs to somebody else.")
    return study


def collected_study(request: HttpRequest, slug: str) -> Study:
    study = study_of(request, slug)
    if study.origin != Origin.COLLECTED:
        raise StudyRefused("The trials of this study were imported: there is nothing to take.")
    return study


def user_of(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise NotAllowed
    return request.user
