"""Pages of models: what is evaluated and what came of it, uploads, and the choice of gold pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from analysis.claims.robustness import THESE_WEIGHTS
from analysis.classifiers import onnx_network
from analysis.classifiers.onnx_network import is_installed
from analysis.classifiers.papers import paper_models
from analysis.errors import AnalysisError
from analysis.figures.paper import to_file
from analysis.observers.methods import methods_text, said_of_place, warnings_of
from analysis.retraining.learning_curve import learning_curve as curve_of
from humanexp.core.errors import ApplicationError, InvalidRequest, NotFound
from humanexp.core.middleware import takes_uploads
from humanexp.core.pages.rendering import FIGURE_KINDS, attached, drawn
from humanexp.core.selectors import user_of
from humanexp.evaluations import selectors
from humanexp.evaluations.forms import ConfirmForm, EvaluateForm, GoldForm, KindForm, ModelForm, TableForm
from humanexp.evaluations.models import EvaluationRun, Retraining, UploadedModel
from humanexp.evaluations.services import evaluations, uploads
from humanexp.evaluations.services.evaluations import evaluate
from humanexp.evaluations.services.retraining import expected_warnings
from humanexp.evaluations.shares import EDGES, shares_of
from humanexp.evaluations.specs import shelf_specs, shown
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import latest_for, newest_by_subject, partial_context
from humanexp.stimuli.selectors.sources import source_set_by_name

#: Quantities of the table before and after, in the order of its columns.
QUANTITIES = ("area", "hmri", "mrsi")


@dataclass(frozen=True)
class Row:
    """A run or a retraining with the newest job about it."""

    one: Any
    job: Job | None
    #: what is said of a run that guesses
    guessing: str = ""

    @property
    def is_under_way(self) -> bool:
        return self.job is not None and not self.job.is_finished

    @property
    def has_failed(self) -> bool:
        return self.job is not None and self.job.is_finished and self.job.state != "done"


def rows_of(found: Sequence[EvaluationRun] | Sequence[Retraining] | Sequence[UploadedModel]) -> list[Row]:
    newest = newest_by_subject([one.job_subject for one in found])
    guessing = selectors.guessing([one for one in found if isinstance(one, EvaluationRun)])
    return [
        Row(one, newest.get(one.job_subject), guessing.get(one.pk, "") if isinstance(one, EvaluationRun) else "")
        for one in found
    ]


def packaged() -> list[tuple[str, bool]]:
    """Networks that know photographs and come as packages, each with whether they are installed here."""
    return [(spec, is_installed(spec)) for spec in onnx_network.SPECS]


def run_context(run: EvaluationRun) -> dict[str, Any]:
    job, position = latest_for(run.job_subject), run.asking.get("summary", {}).get("position")
    return {
        "run": run,
        "guessing": selectors.guessing([run]).get(run.pk),
        "asked_how": methods_text(run.name, run.asking),
        "place": said_of_place(position) if position else "",
        "warnings": warnings_of(run.asking),
        "shares": shares_of([run]) if run.predictions_file else [],
        "kind_form": KindForm(initial={"kind": run.kind}),
        "stretches": [f"{low:g} to {high:g}" for low, high in pairwise(EDGES)],
        **partial_context(job),
    }


def retraining_context(retraining: Retraining) -> dict[str, Any]:
    """The report as rows of a table: one a curve and quantity."""
    entries = [
        {
            "corruption": row["corruption"],
            "property": row["property"],
            "trained_on": row["trained_on"],
            "quantity": name,
            "before": row["before"][name],
            "after": row["after"][name],
            "difference": row["difference"][name],
            "low": row["interval"][name][0],
            "high": row["interval"][name][1],
            "stimuli": row["stimuli"],
        }
        for row in retraining.report.get("rows", [])
        for name in QUANTITIES
        if name in row["difference"]
    ]
    job, spec = latest_for(retraining.job_subject), f"export:{retraining.out}"
    return {
        "retraining": retraining,
        "report": retraining.report,
        "entries": entries,
        "these_weights": THESE_WEIGHTS,
        "warnings": retraining.report.get("warnings", []) if retraining.report else expected_warnings(retraining),
        # to be evaluated on other stimuli, where the console may read it
        "new_spec": shown(spec) if spec in shelf_specs() else "",
        **partial_context(job),
    }


@login_required
@require_GET
def classifiers(request: HttpRequest) -> HttpResponse:
    """Networks that have classified stimuli, those that are at it, and what retraining brought."""
    context = {
        "rows": rows_of(list(selectors.all_runs())),
        "retrainings": rows_of(list(selectors.all_retrainings())),
        "paper_models": paper_models(),
        "packaged": (shipped := packaged()),
        "all_packaged": all(is_installed for _spec, is_installed in shipped),
        "install": onnx_network.INSTALL,
        "uploaded": rows_of(list(selectors.all_uploaded_models())),
    }
    return render(request, "evaluations/classifiers.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Ask a network about every stimulus of a set."""
    filled = {name: request.GET.get(name, "") for name in ("spec", "stimulus_set")}
    form = EvaluateForm(request.POST or None, initial=filled)
    if request.method == "POST" and form.is_valid():
        try:
            run, _job = evaluate(**form.asked, by=user_of(request))
        except ApplicationError as error:
            form.add_error("spec" if isinstance(error, InvalidRequest) else None, error.message)
        else:
            return redirect("evaluations:run", pk=run.pk)
    return render(request, "evaluations/new.html", {"form": form}, status=422 if form.is_bound else 200)


@takes_uploads
@login_required
@require_http_methods(["GET", "POST"])
def upload(request: HttpRequest) -> HttpResponse:
    """Examine a table of predictions, and show what was understood or all that is wrong with it."""
    form = TableForm(request.POST or None, request.FILES or None)
    context: dict[str, Any] = _limited(form, "table", uploads.MOST_TABLE_MB)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        try:
            report, waiting = uploads.examine(stimulus_set=chosen["stimulus_set"], table=chosen["table"])
        except (ApplicationError, AnalysisError) as error:
            form.add_error("table", str(error))
        else:
            context |= {"report": report, "stimulus_set": chosen["stimulus_set"], "name": chosen["name"]}
            if waiting:
                return render(request, "evaluations/preview.html", {**context, "waiting": waiting})
    return render(request, "evaluations/upload.html", context, status=422 if form.is_bound else 200)


@takes_uploads
@login_required
@require_http_methods(["GET", "POST"])
def upload_model(request: HttpRequest) -> HttpResponse:
    """Take a network's file to be checked; what can be told at once is told in the form."""
    form = ModelForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            uploads.receive(**form.asked, by=user_of(request))
        except ApplicationError as error:
            named = [field for field in getattr(error, "fields", None) or {} if field in form.fields]
            form.add_error(named[0] if named else "model", error.message)
        else:
            messages.success(request, "The model is being checked. It will be on the shelf once that is done.")
            return redirect("evaluations:classifiers")
    context = _limited(form, "model", uploads.MOST_MODEL_MB)
    return render(request, "evaluations/upload_model.html", context, status=422 if form.is_bound else 200)


def _limited(form: Form, field: str, most_mb: int) -> dict[str, Any]:
    """A form whose field says how much it takes: whatever a kind of file allows, the installation may allow less."""
    most_mb = min(most_mb, int(settings.PICTURES_UPLOAD_MAX_MB))
    form.fields[field].help_text += f" At most {most_mb} MB."
    return {"form": form, "most_mb": most_mb}


@login_required
@require_POST
def take(request: HttpRequest) -> HttpResponse:
    """Take a table that was shown."""
    form = ConfirmForm(request.POST)
    if not form.is_valid():
        raise InvalidRequest("The table was not named: upload it again.")
    chosen = form.cleaned_data
    try:
        run, _job = uploads.take(
            stimulus_set=chosen["stimulus_set"], waiting=chosen["waiting"], name=chosen["name"], by=user_of(request)
        )
    except AnalysisError as error:
        raise InvalidRequest(str(error)) from error
    return redirect("evaluations:run", pk=run.pk)


@login_required
@require_GET
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """One classifier on one set: the facts, and the job while it is under way."""
    return render(request, "evaluations/run.html", run_context(selectors.run_by_pk(pk)))


@login_required
@require_POST
def kind(request: HttpRequest, pk: int) -> HttpResponse:
    """Say of which kind the network of a run is."""
    form = KindForm(request.POST)
    if not form.is_valid():
        raise InvalidRequest("There is no such kind of networks: choose one of the list.")
    evaluations.set_kind(run=selectors.run_by_pk(pk), kind=form.cleaned_data["kind"], by=user_of(request))
    messages.success(request, "Saved. The next analysis shows the network by this kind.")
    return redirect("evaluations:run", pk=pk)


@login_required
@require_http_methods(["GET", "POST"])
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what goes, and let it go when the name is typed."""
    found, refusal = selectors.run_by_pk(pk), ""
    if request.method == "POST":
        if request.POST.get("confirm", "").strip() != found.name:
            refusal = "Type the name exactly as it appears above."
        else:
            try:
                evaluations.delete(run=found, by=user_of(request))
            except ApplicationError as error:
                refusal = error.message
            else:
                messages.success(request, f"{found.name} is deleted.")
                return redirect("evaluations:classifiers")
    context = {"run": found, "refusal": refusal}
    return render(request, "evaluations/delete.html", context, status=422 if refusal else 200)


@login_required
@require_GET
def retraining(request: HttpRequest, pk: int) -> HttpResponse:
    """What training a network further brought: before and after."""
    context = retraining_context(selectors.retraining_by_pk(pk))
    return render(request, "evaluations/retraining.html", context)


@login_required
@require_GET
def learning_curve(request: HttpRequest, pk: int, suffix: str) -> HttpResponse:
    """Loss by epoch as a figure file."""
    found = selectors.retraining_by_pk(pk)
    if suffix not in FIGURE_KINDS or not found.report:
        raise NotFound("The learning curve comes as .svg, .png and .pdf, once the network is trained.")
    figure = curve_of(found.report, name=found.new_name)
    content = drawn(suffix, partial(to_file, figure, width="column"))
    return attached(content, FIGURE_KINDS[suffix], f"{found.new_name}-curve.{suffix}", inline="inline" in request.GET)


@login_required
@require_http_methods(["GET", "POST"])
def select_gold(request: HttpRequest, name: str) -> HttpResponse:
    """Ask classifiers which pictures of a set are easy."""
    source_set = source_set_by_name(name)
    specs = source_set.gold_classifiers or selectors.known_specs()
    form = GoldForm(request.POST or None, initial={"classifiers": "\n".join(specs)})
    if request.method == "POST" and form.is_valid():
        try:
            evaluations.select_gold(source_set=source_set, specs=form.cleaned_data["classifiers"], by=user_of(request))
        except InvalidRequest as error:
            form.add_error("classifiers", error.message)
        else:
            return redirect("stimuli:source_set", name=name)
    context = {"source_set": source_set, "form": form}
    return render(request, "evaluations/select_gold.html", context, status=422 if form.is_bound else 200)
