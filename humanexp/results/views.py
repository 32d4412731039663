from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from humanexp.core import clock, navigation
from humanexp.core.errors import NotFound
from humanexp.core.storage import media_path
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Origin, Study
from humanexp.jobs.pace import partial_context
from humanexp.results import charts, exports, selectors, services
from humanexp.results.charts import FigureName
from humanexp.results.dashboard import dashboard_of
from humanexp.results.models import AnalysisRun

_CONTENT_TYPES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}


@login_required
def dashboard(request: HttpRequest, slug: str) -> HttpResponse:
    """What the study found, from the newest stored analysis."""
    study = _study(request, slug)
    run = selectors.latest_run(study)
    job = selectors.analysis_job(study)
    context: dict[str, Any] = {
        "study": study,
        "run": run,
        **partial_context(job if job and _matters(job, run) else None, now=clock.now()),
    }
    if run is not None:
        found = selectors.findings(run)
        context["dashboard"] = board = dashboard_of(found, imported=study.origin == Origin.IMPORTED)
        if board.panels:
            wanted = request.GET.get("figure")
            panel = next((panel for panel in board.panels if panel.name.key == wanted), board.panels[0])
            context |= {"current": panel, "figure": _figure_value(found, panel.name)}
    context["review_url"] = _tab_url("review", study)
    context["trial_import"] = selectors.trial_import_of(study)
    return render(request, "results/dashboard.html", context)


@login_required
@require_POST
def analyse(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue an analysis; asked twice, one job."""
    study = _study(request, slug)
    job = services.request_analysis(study=study, by=request.user if request.user.is_authenticated else None)
    if getattr(request, "htmx", False):
        return render(request, "jobs/_job.html", partial_context(job, now=clock.now()))
    return redirect("results:dashboard", slug=slug)


@login_required
def figure_json(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """A figure as the page draws it."""
    found = selectors.findings(_run(_study(request, slug)))
    return JsonResponse(_figure_value(found, _name(found, key)))


@login_required
def figure_file(request: HttpRequest, slug: str, key: str, suffix: str) -> HttpResponse:
    """A figure as a file for a paper; ?band= chooses which band is drawn."""
    if suffix not in _CONTENT_TYPES:
        raise NotFound("Figures come as .svg, .pdf and .png.")
    run = _run(_study(request, slug))
    found = selectors.findings(run)
    figure = charts.figure_of(found, _name(found, key))
    if "band" in request.GET:
        figure = figure.with_band(request.GET["band"])
    with tempfile.TemporaryDirectory() as folder:
        content = figure.to_file(Path(folder) / f"figure.{suffix}").read_bytes()
    response = HttpResponse(content, content_type=_CONTENT_TYPES[suffix])
    how = "inline" if "inline" in request.GET else "attachment"
    response["Content-Disposition"] = f'{how}; filename="{slug}-{key}.{suffix}"'
    return response


@login_required
def findings_file(request: HttpRequest, slug: str) -> FileResponse:
    """Every number of the page, unrounded."""
    run = _run(_study(request, slug))
    return FileResponse(
        media_path(run.findings_file).open("rb"),
        as_attachment=True,
        filename=f"{slug}-findings.json",
        content_type="application/json",
    )


@login_required
def responses_csv(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Every answer, pseudonymous."""
    study = _study(request, slug)
    response = StreamingHttpResponse(exports.response_lines(study), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-responses.csv"'
    return response


def _study(request: HttpRequest, slug: str) -> Study:
    study = experiments.visible_to(request.user).filter(slug=slug).first()
    if study is None:
        raise NotFound(f"There is no study {slug!r}, or it belongs to somebody else.")
    return study


def _run(study: Study) -> AnalysisRun:
    run = selectors.latest_run(study)
    if run is None:
        raise NotFound("This study has not been analysed yet: run the analysis on its results page.")
    return run


def _name(found: dict[str, Any], key: str) -> FigureName:
    for name in charts.figure_names(found):
        if name.key == key:
            return name
    raise NotFound(f"This study has no figure called {key!r}.")


def _figure_value(found: dict[str, Any], name: FigureName) -> dict[str, Any]:
    figure = charts.figure_of(found, name)
    described = {"key": name.key, "description": figure.description, "bands": list(figure.band_meanings)}
    return figure.to_plotly() | described


def _tab_url(key: str, study: Study) -> str:
    """Address of another room of the study; empty when there is no such room."""
    tabs = {tab.key: tab for tab in navigation.study_tabs(imported=study.origin == Origin.IMPORTED)}
    return reverse(tabs[key].url_name, args=[study.slug]) if key in tabs else ""


def _matters(job: Any, run: AnalysisRun | None) -> bool:
    """A job is shown while it runs, and when it ended badly after the newest run."""
    if not job.is_finished:
        return True
    return job.state != "done" and (run is None or job.created_at > run.created_at)
