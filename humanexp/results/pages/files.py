"""Downloads: figures, tables, findings, answers, reports."""

from __future__ import annotations

import json
from functools import partial

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.views.decorators.http import require_GET

from analysis.figures.paper import sheet_to_file, to_file
from analysis.figures.value import Figure
from humanexp.core.errors import NotFound, existing
from humanexp.core.pages.rendering import FIGURE_KINDS, attached, drawn
from humanexp.core.storage import media_path
from humanexp.results import exports, selectors
from humanexp.results.charts.chart import Chart
from humanexp.results.charts.curves import sheet_of
from humanexp.results.charts.registry import chart_of
from humanexp.results.pages.dashboard import figure_value
from humanexp.results.pages.views import run_of
from humanexp.studies.selectors import study_for

#: As in `analysis.figures.drawing.WIDTHS`.
_WIDTHS = ("text", "column", "page")


@login_required
@require_GET
def figure_json(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """A figure as the page draws it."""
    return JsonResponse(figure_value(key, _figure(_chart(request, slug, key))))


@login_required
@require_GET
def figure_file(request: HttpRequest, slug: str, key: str, suffix: str) -> HttpResponse:
    """A figure as a file for a paper.

    ?band=, ?observer=, ?width= and ?font= choose what is drawn, how wide, and in which letters.
    """
    width, font = _looks(request, suffix, width="text")
    figure = _chosen(request, _figure(_chart(request, slug, key)))
    content = drawn(suffix, partial(to_file, figure, width=width, font=font))
    return attached(content, FIGURE_KINDS[suffix], f"{slug}-{key}.{suffix}", inline="inline" in request.GET)


@login_required
@require_GET
def sheet_file(request: HttpRequest, slug: str, sheet: str, suffix: str) -> HttpResponse:
    """The curves of all corruptions as panels of one file; chosen as of one figure."""
    width, font = _looks(request, suffix, width="page")
    found = sheet_of(selectors.findings(run_of(request, slug)), sheet)
    panels = [(label, _chosen(request, figure)) for label, figure in found]
    write = partial(sheet_to_file, panels, title=f"{slug}: {sheet}", width=width, font=font)
    content = drawn(suffix, write)
    return attached(content, FIGURE_KINDS[suffix], f"{slug}-{sheet}.{suffix}", inline="inline" in request.GET)


@login_required
@require_GET
def table_file(request: HttpRequest, slug: str, key: str, table: str, suffix: str) -> HttpResponse:
    """A chart's table: CSV unrounded, LaTeX rounded."""
    found = _chart(request, slug, key).table(table)
    if suffix not in ("csv", "tex"):
        raise NotFound("Tables come as .csv and .tex.")
    content, kind = (found.to_csv(), "text/csv") if suffix == "csv" else (found.to_latex(), "application/x-tex")
    # Two charts of one study may have tables of one name.
    name = table if table == key else f"{key}-{table}"
    return attached(content.encode(), f"{kind}; charset=utf-8", f"{slug}-{name}.{suffix}")


@login_required
@require_GET
def findings_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Every number of the pages, unrounded."""
    run = run_of(request, slug)
    content = json.dumps(selectors.findings_json(run) | exports.since_of(run), allow_nan=False)
    return attached(content.encode(), "application/json", f"{slug}-findings.json")


@login_required
@require_GET
def responses_csv(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Every answer, pseudonymous."""
    study = study_for(request.user, slug)
    response = StreamingHttpResponse(exports.response_lines(study), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-responses.csv"'
    return response


@login_required
@require_GET
def report_file(request: HttpRequest, slug: str, suffix: str) -> FileResponse:
    """The newest report on the run."""
    found = selectors.latest_report(run_of(request, slug))
    files = {} if found is None else {"html": found.html_file, "pdf": found.pdf_file}
    if suffix not in files:
        raise NotFound("There is no such report yet: write one in the room Methods.")
    kind = "text/html; charset=utf-8" if suffix == "html" else "application/pdf"
    # The HTML file has its style inside, which the pages' own policy forbids: it is read where it was saved.
    return _file(files[suffix], f"{slug}-report.{suffix}", kind)


def _looks(request: HttpRequest, suffix: str, *, width: str) -> tuple[str, str]:
    """Width and letters of a drawing, as asked for."""
    if suffix not in FIGURE_KINDS:
        raise NotFound("Figures come as .svg, .pdf and .png.")
    chosen = request.GET.get("width", width)
    if chosen not in _WIDTHS:
        raise NotFound(f"Figures come in the widths {', '.join(_WIDTHS)}.")
    return chosen, request.GET.get("font", "")


def _chosen(request: HttpRequest, figure: Figure) -> Figure:
    """The figure with the band and the series that the reader left in it."""
    if "band" in request.GET:
        figure = figure.with_band(request.GET["band"])
    return figure.only(request.GET.getlist("observer")) if "observer" in request.GET else figure


def _chart(request: HttpRequest, slug: str, key: str) -> Chart:
    return chart_of(selectors.findings(run_of(request, slug)), key)


def _figure(chart: Chart) -> Figure:
    return existing(chart.figure, f"{chart.key!r} is a table; there is no figure of it.")


def _file(relative: str, name: str, kind: str) -> FileResponse:
    try:
        opened = media_path(relative).open("rb")
    except FileNotFoundError:
        raise NotFound(f"{name} is gone from the server's files. Make it again.") from None
    return FileResponse(opened, as_attachment=True, filename=name, content_type=kind)
