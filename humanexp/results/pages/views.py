"""The pages of results, what they are asked for with, and their downloads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TypeAlias

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from analysis.figures.paper import sheet_to_file, to_file
from analysis.figures.value import Figure
from analysis.findings.model.findings import Findings
from humanexp.core.errors import InputRefused, NotFound, existing
from humanexp.core.pages.navigation import tab_address
from humanexp.core.pages.rendering import FIGURE_KINDS, attached, drawn
from humanexp.core.selectors import user_of
from humanexp.core.storage import media_path
from humanexp.jobs.models import Job, JobState
from humanexp.jobs.selectors import by_pk, partial_context
from humanexp.results import exports, report, selectors
from humanexp.results.charts.chart import Chart, FigureName, corruptions_of
from humanexp.results.charts.curves import name_of, sheet_of
from humanexp.results.charts.registry import chart_of
from humanexp.results.models import AnalysisRun
from humanexp.results.pages.contrasts import contrast_room
from humanexp.results.pages.dashboard import (
    ROOMS,
    card_of,
    cards_of,
    dashboard_of,
    figure_value,
    panel_of,
    question_of,
)
from humanexp.results.report import choice_of, deviations_of, request_report
from humanexp.results.selectors import SELF_REPORTS, Selection, asked_flow_of, flow_of, withdrawn_sentence
from humanexp.results.services import freeze_analysis_plan, plan_as_it_stands, request_analysis
from humanexp.results.templatetags.results import printed_table
from humanexp.studies.models import Action, Origin, Study
from humanexp.studies.permissions import may
from humanexp.studies.selectors import study_for, subject_of


class SelectionForm(forms.Form):
    """Which sessions and trials an analysis counts; everything as it opens = as planned."""

    all_sessions = forms.BooleanField(label="Count excluded sessions, too", required=False)
    timing_ok = forms.BooleanField(label="Only trials whose timing is in order", required=False)
    drop_misses = forms.BooleanField(label="Leave misses out instead of counting them as wrong", required=False)
    self_reports = forms.MultipleChoiceField(
        label="Only people who report",
        choices=[(name, one.words) for name, one in SELF_REPORTS.items()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    corruptions = forms.MultipleChoiceField(
        label="Only these corruptions", widget=forms.CheckboxSelectMultiple, required=False
    )

    def __init__(
        self, data: Mapping[str, object] | None = None, *, corruptions: list[str], imported: bool = False
    ) -> None:
        super().__init__(data)
        self._corruptions = set(corruptions)
        field = self.fields["corruptions"]
        if isinstance(field, forms.MultipleChoiceField):
            field.choices = [(name, name.replace("_", " ")) for name in corruptions]
        if len(corruptions) < 2:
            del self.fields["corruptions"]
        if imported:
            # Published trials carry neither verdicts nor timing nor reports.
            for name in ("all_sessions", "timing_ok", "self_reports"):
                del self.fields[name]

    @property
    def selection(self) -> Selection:
        """The choice of a valid form; all corruptions chosen is none chosen."""
        chosen = dict(self.cleaned_data)
        if set(chosen.get("corruptions", ())) == self._corruptions:
            chosen["corruptions"] = ()
        return Selection.model_validate(chosen)


Context: TypeAlias = dict[str, object]
#: Visual change at which curves are read out at first.
READ_AT = 0.8


@login_required
@require_GET
def dashboard(request: HttpRequest, slug: str) -> HttpResponse:
    """What the study found, in one screen."""
    study = study_for(request.user, slug)
    if "job" in request.GET:
        return redirect(_page_of_job(study, request.GET["job"]))
    run = chosen_run(request, study)
    context = _frame(request, study, run, "findings")
    if run is not None:
        found = selectors.findings(run)
        board = dashboard_of(found, imported=study.origin == Origin.IMPORTED)
        context |= {"dashboard": board, "question": question_of(study, found), "found": found}
        if board.figures:
            wanted = request.GET.get("figure")
            name = next((name for name in board.figures if name.key == wanted), board.figures[0])
            chart = chart_of(found, name.key)
            context |= _panel_context(found, name, chart)
            context["figure"] = None if chart.figure is None else figure_value(name.key, chart.figure)
        else:
            # Pairs told apart, pictures judged: studies without curves show what they asked instead.
            context["cards"] = cards_of(found, "findings", request.GET.dict())
    return render(request, "results/dashboard.html", context)


@login_required
@require_GET
def panel(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """All that is said about one figure of performance: replaces what stands beside the chart."""
    study = study_for(request.user, slug)
    run = existing(chosen_run(request, study), "This study has not been analysed yet.")
    found = selectors.findings(run)
    context = _frame(request, study, run, "findings") | {"found": found}
    context |= _panel_context(found, name_of(found, key), chart_of(found, key))
    return render(request, "results/_panel.html", context)


@login_required
@require_GET
def table(request: HttpRequest, slug: str, key: str, table: str) -> HttpResponse:
    """A table that is too large to come with its page; asked for when it is opened."""
    found = chart_of(selectors.findings(run_of(request, slug)), key)
    return render(request, "results/_table.html", printed_table(found.table(table)))


@login_required
@require_GET
def room(request: HttpRequest, slug: str, room: str) -> HttpResponse:
    """Models, corruptions, people, or who answered: cards with a chart each; or the pictures themselves."""
    study = study_for(request.user, slug)
    if room not in ROOMS or room == "findings":
        raise NotFound("There is no such page of results.")
    run = chosen_run(request, study)
    if run is None:
        return redirect("results:dashboard", slug=slug)
    found = selectors.findings(run)
    if room == "who" and found.persons is None:
        raise NotFound("This study has no sentinels that tell people from machines.")
    context = _frame(request, study, run, room)
    context |= {"cards": cards_of(found, room, request.GET.dict()), "found": found}
    if room == "people":
        context["flow"] = flow_of(found, all_count=Selection.model_validate(run.selection).all_sessions)
        context["asked"] = [(one, asked_flow_of(one)) for one in found.asked]
    if room == "pictures":
        context["room_of"] = contrast_room(study, found, request.GET.get("model", ""))
    if room == "who":
        context["may_look"] = may(request.user, Action.EVIDENCE, study)
    return render(request, f"results/{room}.html", context)


@login_required
@require_GET
def card(request: HttpRequest, slug: str) -> HttpResponse:
    """One card, with another chart of its family chosen in it."""
    run = run_of(request, slug)
    chosen = next((value for name, value in request.GET.dict().items() if name != "run"), "")
    context = {"study": run.study, "run": run, "run_chosen": "run" in request.GET}
    return render(request, "results/_card.html", context | {"card": card_of(selectors.findings(run), chosen)})


@login_required
@require_GET
def methods(request: HttpRequest, slug: str) -> HttpResponse:
    """How it was computed, in words that a paper can take; plan, versions, report."""
    study = study_for(request.user, slug)
    run = chosen_run(request, study)
    if run is None:
        return redirect("results:dashboard", slug=slug)
    job = selectors.report_job(study)
    context = _frame(request, study, run, "methods") | {
        "facts": report.report_facts(run),
        "report": selectors.latest_report(run),
        "report_job": partial_context(job) if job and _is_shown(job, run) else None,
        "notes": selectors.findings(run).notes,
    }
    if context["plan"] is None and study.origin == Origin.COLLECTED:
        context["plan_to_freeze"] = plan_as_it_stands(study)
    return render(request, "results/methods.html", context)


@login_required
@require_POST
def analyse(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue an analysis, as planned or with the choices of the form; asked twice, one job."""
    study = study_for(request.user, slug)
    form = selection_form(study, selectors.latest_run(study), request.POST)
    if not form.is_valid():
        raise InputRefused(" ".join(str(text) for texts in form.errors.values() for text in texts))
    selection = form.selection
    if not selection.is_whole and "again" not in request.POST:
        stored = selectors.run_with(study, selection)
        if stored is not None:
            return redirect(f"{reverse('results:dashboard', args=[slug])}?run={stored.pk}")
    job = request_analysis(study=study, selection=selection, by=user_of(request))
    return _under_way(request, job, reverse("results:dashboard", args=[slug]))


@login_required
@require_POST
def freeze(request: HttpRequest, slug: str) -> HttpResponse:
    """Freeze the analysis plan, once confirmed."""
    study = study_for(request.user, slug)
    if "confirmed" not in request.POST:
        raise InputRefused("Confirm that the plan is to be frozen: it cannot be undone.")
    plan = freeze_analysis_plan(study=study, by=user_of(request))
    messages.success(request, f"The analysis plan is frozen; its SHA-256 is {plan.digest}.")
    return redirect("results:methods", slug=slug)


@login_required
@require_POST
def write_report(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue a report on the run that is being looked at."""
    run = run_of(request, slug)
    job = request_report(run=run, by=user_of(request))
    return _under_way(request, job, f"{reverse('results:methods', args=[slug])}?run={run.pk}")


def _under_way(request: HttpRequest, job: Job, page: str) -> HttpResponse:
    if getattr(request, "htmx", False):
        return render(request, "jobs/_job.html", partial_context(job))
    return redirect(page)


def chosen_run(request: HttpRequest, study: Study) -> AnalysisRun | None:
    """The run named by ?run=, or the newest one as planned."""
    if "run" in request.GET:
        return selectors.run_of(study, request.GET["run"])
    return selectors.latest_run(study)


def run_of(request: HttpRequest, slug: str) -> AnalysisRun:
    run = chosen_run(request, study_for(request.user, slug))
    return existing(run, "This study has not been analysed yet: run the analysis on its results page.")


def selection_form(study: Study, run: AnalysisRun | None, given: Mapping[str, object] | None = None) -> SelectionForm:
    """The form of choices, with the corruptions of the planned analysis."""
    corruptions = corruptions_of(selectors.findings(run)) if run else []
    return SelectionForm(given, corruptions=corruptions, imported=study.origin == Origin.IMPORTED)


def _panel_context(found: Findings, name: FigureName, chart: Chart) -> Context:
    return {"panel": panel_of(found, name), "chart": chart, "read_at": READ_AT}


def _frame(request: HttpRequest, study: Study, run: AnalysisRun | None, room: str) -> Context:
    """What every room shows: which analysis this is, what else could be chosen, what is being computed."""
    selection = Selection.model_validate(run.selection) if run else Selection()
    form = selection_form(study, selectors.latest_run(study))
    form.initial = run.selection if run else {}
    plan = selectors.plan_of(study)
    departures = deviations_of(study, plan, selectors.findings(run)) if run and plan else []
    under_way = selectors.analyses_under_way(study)
    failed = selectors.analysis_job(study)
    if failed is not None and (failed.is_finished and _is_shown(failed, run)):
        under_way.append(failed)
    return {
        "study": study,
        "room": room,
        "run": run,
        "run_chosen": "run" in request.GET,
        "withdrawn": withdrawn_sentence(selectors.withdrawn_since(run)) if run else "",
        "plan": plan,
        "selection": selection,
        "choice": choice_of(run, plan, departures) if run else None,
        "selection_form": form,
        "other_choices": [
            (other, Selection.model_validate(other.selection).sentences) for other in selectors.other_choices(study)
        ],
        "analysis_jobs": [
            partial_context(job)
            | {"sentences": Selection.model_validate(job.parameters.get("selection") or {}).sentences}
            for job in under_way
        ],
        "review_url": tab_address("review", study.slug, imported=study.origin == Origin.IMPORTED),
        "trial_import": selectors.trial_import_of(study),
        "has_persons": run is not None and selectors.findings(run).persons is not None,
        "has_contrasts": run is not None and bool(selectors.findings(run).contrasts),
    }


def _page_of_job(study: Study, pk: str) -> str:
    """The page that shows what a job of this study has made."""
    page = reverse("results:dashboard", args=[study.slug])
    job = by_pk(int(pk)) if pk.isdecimal() else None
    if job is None or job.subject != subject_of(study):
        return page
    run = (job.result or {}).get("analysis_run_id")
    if job.kind == selectors.REPORT:
        return f"{reverse('results:methods', args=[study.slug])}?run={job.parameters['analysis_run_id']}#report"
    return f"{page}?run={run}" if run and job.parameters.get("selection") else page


def _is_shown(job: Job, run: AnalysisRun | None) -> bool:
    """A job is shown while it runs, and when it ended badly after the run that is looked at."""
    if not job.is_finished:
        return True
    return job.state != JobState.DONE and (run is None or job.created_at > run.created_at)


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
