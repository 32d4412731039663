"""What every view of results starts from: the study, as far as the reader may see it, and the run in its address."""

from __future__ import annotations

from django.http import HttpRequest

from humanexp.core.errors import existing
from humanexp.results import selectors
from humanexp.results.models import AnalysisRun
from humanexp.studies import selectors as studies
from humanexp.studies.models import Study


def chosen_run(request: HttpRequest, study: Study) -> AnalysisRun | None:
    """The run named by ?run=, or the newest one as planned."""
    if "run" in request.GET:
        return selectors.run_of(study, request.GET["run"])
    return selectors.latest_run(study)


def run_of(request: HttpRequest, slug: str) -> AnalysisRun:
    run = chosen_run(request, studies.study_for(request.user, slug))
    return existing(run, "This study has not been analysed yet: run the analysis on its results page.")
