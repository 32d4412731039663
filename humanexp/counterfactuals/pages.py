"""Pages of searches, of rounds that people judge, and of searches read together."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from analysis.corruptions import CORRUPTIONS
from analysis.counterfactuals.summaries import DRAWINGS_ONLY, is_shipped
from analysis.figures.paper import to_file
from analysis.native_size import MINIMUM_NATIVE_PX
from humanexp.core.errors import ApplicationError, InvalidRequest, NotAllowed, NotFound, existing
from humanexp.core.names import NameField
from humanexp.core.pages.rendering import FIGURE_KINDS, attached, drawn
from humanexp.core.selectors import user_of
from humanexp.core.storage import current_path
from humanexp.counterfactuals import charts, selectors
from humanexp.counterfactuals.models import CROWD, SearchRun
from humanexp.counterfactuals.selectors import (
    benchmark_of,
    caveats_of,
    committed_sums,
    counterfactual_by_pk,
    gallery,
    has_begun,
    round_of,
    rounds_of,
    said_of_intervals,
    search_by_name,
    under_way,
)
from humanexp.counterfactuals.services import benchmarks
from humanexp.counterfactuals.services.benchmark_archive import write_archive
from humanexp.counterfactuals.services.rounds import start_round
from humanexp.counterfactuals.services.searches import create_search
from humanexp.evaluations import specs
from humanexp.jobs.selectors import latest_for, partial_context
from humanexp.ledger.pages.money import MoneyField
from humanexp.recruiters import money
from humanexp.recruiters.registry import currency_of, usual_ground
from humanexp.stimuli.models import SourceSet
from humanexp.stimuli.selectors.sources import source_sets
from humanexp.studies.models import Population


def _typed(offered: str) -> forms.TextInput:
    return forms.TextInput(attrs={"class": "code", "spellcheck": "false", "list": offered})


class SearchForm(forms.Form):
    """A search; what a specification may say is told beside the field."""

    name = NameField(max_length=60)
    images = forms.ModelChoiceField(SourceSet.objects.order_by("name"), label="Pictures", to_field_name="name")
    classifier = forms.CharField(
        label="Model under test",
        max_length=300,
        widget=_typed("known-models"),
        help_text="For example export:fixtures/classifiers/clean.pt2, or torchvision:resnet50.",
    )
    generator = forms.CharField(
        label="Generator",
        max_length=300,
        initial="pixel:",
        widget=_typed("known-generators"),
        help_text=(
            "pixel: changes pixels within a bound; vqgan:CHECKPOINT changes the latents of an autoencoder; "
            "corruption:NAME walks along a corruption function."
        ),
    )
    oracle = forms.CharField(
        label="Oracle",
        max_length=600,
        widget=_typed("known-oracles"),
        help_text=(
            "classifier:MODEL, clip:MODEL, ensemble:A|B; or crowd: for people, who judge every step in a study of "
            "validation, round by round."
        ),
    )
    budget = forms.IntegerField(label="Most perturbations of a picture", min_value=1, max_value=1000, initial=10)
    pictures = forms.IntegerField(
        label="Number of pictures", min_value=0, initial=0, help_text="Even over categories; 0 takes all."
    )
    size_px = forms.IntegerField(label="Size, px", min_value=MINIMUM_NATIVE_PX, max_value=1024, initial=224)
    seed = forms.IntegerField(label="Seed", min_value=0, initial=0)
    greyscale = forms.BooleanField(label="Control: without colour", required=False)
    fgsm = forms.FloatField(
        label="Control: initial signed step", min_value=0, max_value=1, initial=0, help_text="Of 1; 0 for none."
    )
    answers_per_picture = forms.IntegerField(label="Crowd: people who judge a picture", min_value=1, initial=5)
    cap_cents = MoneyField(label="Crowd: most that all rounds may cost", required=False, help_text="Dollars.")
    scripted = forms.BooleanField(label="Crowd: scripted participants, no people", required=False)

    people = ("answers_per_picture", "cap_cents", "scripted")
    further = ("size_px", "seed", "fgsm", "greyscale")

    @property
    def is_opened(self) -> bool:
        """Whether a mistake lies in what is folded away."""
        return bool(self.errors.keys() & {*self.people, *self.further})

    @property
    def generator_caveat(self) -> str:
        """What to know where no autoencoder is offered but the one that comes with HumanExp."""
        files = [file for file in specs.shelf_files() if file.endswith((".pt", ".ckpt"))]
        return DRAWINGS_ONLY if all(is_shipped(Path(file)) for file in files) else ""

    @staticmethod
    def offered() -> dict[str, list[str]]:
        """What is offered while somebody types: nothing of it needs a file that is not there."""
        models = [specs.shown(spec) for spec in specs.shelf_specs() if spec.startswith("export:")]
        autoencoders = [specs.shown(f"vqgan:{file}") for file in specs.shelf_files() if file.endswith((".pt", ".ckpt"))]
        return {
            "known-models": models,
            "known-generators": ["pixel:", *autoencoders, *(f"corruption:{name}" for name in CORRUPTIONS)],
            "known-oracles": [CROWD, *(f"classifier:{spec}" for spec in models)],
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        is_crowd = cleaned.get("oracle") == CROWD
        if is_crowd and cleaned.get("cap_cents") is None and not cleaned.get("scripted"):
            self.add_error("cap_cents", "People cost money: say what all rounds may cost together.")
        if not is_crowd:
            cleaned["cap_cents"] = None
        return cleaned

    def described(self) -> SearchRun:
        """The search that is asked for, from a valid form."""
        given = {name: value for name, value in self.cleaned_data.items() if name not in ("images", "pictures")}
        population = Population.SCRIPTED if given.pop("scripted") else Population.PEOPLE
        return SearchRun(source_set=self.cleaned_data["images"], population=population.value, **given)


def alike(run: SearchRun) -> dict[str, Any]:
    """Fields of a search like this one, for a form in which the model, or the generator, is exchanged."""
    same = ("generator", "oracle", "budget", "size_px", "seed", "greyscale", "fgsm", "answers_per_picture")
    return {
        **{field: getattr(run, field) for field in same},
        "images": run.source_set.name,
        "cap_cents": "" if run.cap_cents is None else money.decimal(run.cap_cents),
        "pictures": run.counterfactuals.count(),
        "scripted": run.population == Population.SCRIPTED,
    }


_KEPT_S = 3600


@login_required
@require_GET
def leaderboard(request: HttpRequest) -> HttpResponse:
    """Models by how far they hold out against pictures made against them."""
    order = request.GET.get("by", "oor")
    order = order if order in selectors.ORDERS else "oor"
    context = {
        "rows": selectors.leaderboard(request.user, order=order),
        "order": order,
        "under_way": under_way(),
        "has_pictures": source_sets().exists(),
    }
    return render(request, "counterfactuals/leaderboard.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    like = request.GET.get("like", "")
    form = SearchForm(request.POST or None, initial=alike(search_by_name(like)) if like else None)
    if request.method == "POST" and form.is_valid():
        try:
            run, _job = create_search(run=form.described(), pictures=form.cleaned_data["pictures"], by=user_of(request))
        except InvalidRequest as error:
            known = [field for field in error.fields if field in form.fields]
            form.add_error(known[0] if known else None, error.message)
        else:
            return redirect("counterfactuals:search", name=run.name)
    return render(request, "counterfactuals/new.html", {"form": form}, status=422 if form.is_bound else 200)


@login_required
@require_GET
def search(request: HttpRequest, name: str) -> HttpResponse:
    """One search: its scores, its rounds, its pictures with their originals."""
    run = search_by_name(name)
    shown = request.GET.get("show", "all")
    shown = shown if shown in selectors.SHOWN else "all"
    page = max(0, int(request.GET.get("page", "0")) if request.GET.get("page", "0").isdecimal() else 0)
    pictures, count = gallery(run, shown=shown, page=page)
    job = latest_for(run.job_subject)
    context = {
        "run": run,
        "pooled": run.scores.get("pooled"),
        "intervals_are": said_of_intervals(run),
        "caveats": caveats_of(run),
        "scores": [("all", run.scores.get("pooled")), *_without_intervals(run.scores.get("classes", {}))],
        "by_budget": run.scores.get("by_budget", []),
        "rounds": rounds_of(run),
        "committed": committed_sums(run),
        "currency": currency_of(usual_ground()),
        "pictures": pictures,
        "has_begun": has_begun(run),
        "count": count,
        "shown": shown,
        "choices": selectors.CHOICES,
        "page": page,
        "has_more": (page + 1) * selectors.PAGE < count,
        "benchmark": benchmark_of(run),
        "unfinished": partial_context(job) if job and job.state != "done" else None,
    }
    template = "counterfactuals/_gallery.html" if getattr(request, "htmx", False) else "counterfactuals/search.html"
    return render(request, template, context)


def _without_intervals(classes: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """The scores of each category: a category has too few pictures for an interval that says anything."""
    return [(name, {**scores, "intervals": {}}) for name, scores in sorted(classes.items())]


@login_required
@require_GET
@cache_control(private=True, max_age=_KEPT_S)
def picture(request: HttpRequest, pk: int, which: str) -> HttpResponse:
    """The original or the kept picture, byte for byte as model and oracle saw it."""
    one = counterfactual_by_pk(pk)
    path = current_path({"original": one.original_file, "kept": one.kept_file if one.sha256 else ""}.get(which) or "-")
    if not path.is_file():
        raise NotFound("There is no such picture.")
    return HttpResponse(path.read_bytes(), content_type="image/png")


@login_required
@require_POST
def freeze(request: HttpRequest, name: str) -> HttpResponse:
    run = search_by_name(name)
    try:
        benchmark = benchmarks.freeze(run=run, by=user_of(request))
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{benchmark.count} pictures are frozen.")
    return redirect("counterfactuals:search", name=name)


@login_required
@require_POST
def as_stimuli(request: HttpRequest, name: str) -> HttpResponse:
    """The frozen pictures as a stimulus set for people."""
    run = search_by_name(name)
    try:
        made = benchmarks.as_stimuli(benchmark=benchmarks.freeze(run=run, by=user_of(request)))
    except ApplicationError as error:
        messages.error(request, error.message)
        return redirect("counterfactuals:search", name=name)
    return redirect("stimuli:stimulus_set", name=made.name)


@login_required
@require_GET
def export(request: HttpRequest, name: str) -> FileResponse:
    """The frozen benchmark: pictures, originals, manifest, in one archive."""
    found = benchmark_of(search_by_name(name))
    benchmark = existing(found, "This search is not frozen: freeze it first.")
    return FileResponse(write_archive(benchmark), as_attachment=True, filename=f"{benchmark.name}.zip")


@login_required
@require_GET
def across(request: HttpRequest, key: str = "") -> HttpResponse:
    """Searches of the same pictures read together: transfer between models, and how generators rank them."""
    found = selectors.groups()
    group = selectors.group_by_key(key) if key else next(iter(found), None)
    stored = None if group is None else selectors.stored(group)
    job = None if stored is None else latest_for(stored.job_subject)
    is_under_way = job is not None and job.state != "done"
    context = {
        "groups": found,
        "group": group,
        "told": [] if group is None else charts.charts_of(group, selectors.result_of(stored)),
        "computed_at": stored.computed_at if stored else None,
        "is_stale": bool(stored and stored.computed_at and group and stored.run_ids != group.run_ids),
        "unfinished": partial_context(job) if is_under_way else None,
        "has_pictures": source_sets().exists(),
    }
    return render(request, "counterfactuals/across.html", context)


@login_required
@require_POST
def start_transfer(request: HttpRequest, key: str) -> HttpResponse:
    """Test every model of a group on the pictures made against the others."""
    try:
        benchmarks.start_transfer(group=selectors.group_by_key(key), by=user_of(request))
    except ApplicationError as error:
        messages.error(request, error.message)
    return redirect("counterfactuals:group", key=key)


@login_required
@require_GET
def group_file(request: HttpRequest, key: str, chart: str, suffix: str) -> HttpResponse:
    """A chart of a group: its first table as CSV, unrounded, or its figure as SVG."""
    group = selectors.group_by_key(key)
    stored = selectors.stored(group)
    found = charts.chart_of(group, selectors.result_of(stored), chart)
    name, inline = f"{chart}.{suffix}", "inline" in request.GET
    if suffix == "csv":
        return attached(found.tables[0].to_csv(), "text/csv; charset=utf-8", name, inline=inline)
    if suffix == "svg" and found.figure is not None:
        return attached(drawn(suffix, partial(to_file, found.figure)), FIGURE_KINDS[suffix], name, inline=inline)
    raise NotFound("Charts come as .csv, and as .svg where something is drawn.")


@login_required
@require_POST
def close_round(request: HttpRequest, name: str, step: int) -> HttpResponse:
    """Take the verdicts that are there, and go on with the next step."""
    one = round_of(search_by_name(name), step)
    try:
        start_round(one=one, by=user_of(request))
    except NotAllowed:
        raise
    except ApplicationError as error:
        messages.error(request, error.message)
    return redirect("counterfactuals:search", name=name)
