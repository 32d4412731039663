from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from humanexp.core.errors import NotFound
from humanexp.experiments import plans, selectors
from humanexp.experiments.design_page import design_page
from humanexp.experiments.drafting.drawing import strip_of
from humanexp.experiments.live import live_page
from humanexp.experiments.models import Study


@never_cache
def run(request: HttpRequest) -> HttpResponse:
    """The shell of the experiment: the same for everybody, it holds nothing about any session."""
    return run_shell(request)


def run_shell(request: HttpRequest) -> HttpResponse:
    """The page that a participant works on."""
    api = reverse("experiments:run-session").removesuffix("session/")
    return render(request, "run/run.html", {"run_config": {"api": api}})


@login_required
def design(request: HttpRequest, slug: str) -> HttpResponse:
    """What is asked of whom: pools, trials, answers planned, protocol."""
    study = _study(request, slug)
    page = design_page(study, selectors.configuration_of(study))
    strip = strip_of(plans.session_plan(study, 0)[1])
    return render(request, "experiments/design.html", {"study": study, "page": page, "strip": strip})


@login_required
def live(request: HttpRequest, slug: str) -> HttpResponse:
    """Where each participant is, and where people stop; the numbers refresh by themselves."""
    study = _study(request, slug)
    page = live_page(study, show=request.GET.get("show", ""), number=request.GET.get("page", "1"))
    template = "experiments/_live.html" if getattr(request, "htmx", False) else "experiments/live.html"
    return render(request, template, {"study": study, "live": page, "standings": list(page.counts.items())})


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
