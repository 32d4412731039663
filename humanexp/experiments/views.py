from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from humanexp.core.errors import NotFound
from humanexp.experiments import selectors
from humanexp.experiments.models import Study


@never_cache
def run(request: HttpRequest) -> HttpResponse:
    """The shell of the experiment: the same for everybody, it holds nothing about any session."""
    api = reverse("experiments:run-session").removesuffix("session/")
    return render(request, "run/run.html", {"run_config": {"api": api}})


@login_required
def design(request: HttpRequest, slug: str) -> HttpResponse:
    """What is asked of whom: pools, trials, answers planned, protocol."""
    study = _study(request, slug)
    return render(request, "experiments/design.html", {"study": study, **selectors.design_summary(study)})


@login_required
def study_file(request: HttpRequest, slug: str) -> HttpResponse:
    """The study as study.toml."""
    study = _study(request, slug)
    response = HttpResponse(selectors.configuration_of(study).to_toml(), content_type="application/toml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}.toml"'
    return response


def _study(request: HttpRequest, slug: str) -> Study:
    study = selectors.visible_to(request.user).filter(slug=slug).first()
    if study is None:
        raise NotFound(f"There is no study {slug!r}.")
    return study
