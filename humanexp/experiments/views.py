from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from analysis.errors import AnalysisError
from humanexp.core.errors import ApplicationError, NotFound
from humanexp.core.models import User
from humanexp.experiments import selectors, services
from humanexp.experiments.configuration import StudyConfiguration
from humanexp.experiments.design_page import design_page
from humanexp.experiments.forms import StudyFileForm
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
    return render(request, "experiments/design.html", {"study": study, "page": page})


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


@login_required
def new_study(request: HttpRequest) -> HttpResponse:
    """Make a study from a study file written or pasted here."""
    sets = selectors.stimulus_sets()
    newest = sets[0].name if sets else ""
    form = StudyFileForm(request.POST) if request.method == "POST" else StudyFileForm.for_stimuli(newest)
    if request.method == "POST" and form.is_valid():
        by = request.user if isinstance(request.user, User) else None
        try:
            configuration = StudyConfiguration.from_toml(form.cleaned_data["text"])
            study = services.create_study(configuration=configuration, by=by)
        except (ApplicationError, AnalysisError) as error:
            form.add_error("text", str(error))
        else:
            return redirect("experiments:design", slug=study.slug)
    status = 422 if form.is_bound else 200
    return render(request, "experiments/new_study.html", {"form": form, "sets": sets}, status=status)


def _study(request: HttpRequest, slug: str) -> Study:
    study = selectors.visible_to(request.user).filter(slug=slug).first()
    if study is None:
        raise NotFound(f"There is no study {slug!r}.")
    return study
