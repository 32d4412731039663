"""What every view of results starts from: the study, as far as the reader may see it, and the run in its address."""

from __future__ import annotations

from django.http import HttpRequest

from humanexp.core.errors import NotFound
from humanexp.core.models import User
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Study
from humanexp.results import selectors
from humanexp.results.models import AnalysisRun


def study_of(request: HttpRequest, slug: str) -> Study:
    study = experiments.visible_to(request.user).filter(slug=slug).first()
    if study is None:
        raise NotFound(f"There is no study {slug!r}, or it belongs to somebody else.")
    return study


def chosen_run(request: HttpRequest, study: Study) -> AnalysisRun | None:
    """The run named by ?run=, or the newest one as planned."""
    if "run" in request.GET:
        return selectors.run_of(study, request.GET["run"])
    return selectors.latest_run(study)


def run_of(request: HttpRequest, slug: str) -> AnalysisRun:
    run = chosen_run(request, study_of(request, slug))
    if run is None:
        raise NotFound("This study has not been analysed yet: run the analysis on its results page.")
    return run


def user_of(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None
