"""Sets of pictures and of stimuli: import or describe them, look at them, freeze or withdraw them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from analysis.errors import AnalysisError
from analysis.visual_change.coverage import stimuli_that_cover
from humanexp.core.errors import ApplicationError, InvalidRequest, NotFound
from humanexp.core.middleware import takes_uploads
from humanexp.core.pages.rendering import FIGURE_KINDS, attached, drawn, render_part
from humanexp.core.selectors import user_of
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import latest_for, partial_context
from humanexp.stimuli.models import Sampling, SourceSet, StimulusSet
from humanexp.stimuli.pages import previews, set_browser
from humanexp.stimuli.pages.forms import ImportForm, NotesForm, StimulusSetForm
from humanexp.stimuli.selectors import coverage, sources
from humanexp.stimuli.selectors.sets import stimulus_set_by_name
from humanexp.stimuli.selectors.sources import (
    answers_for,
    counts_by_category,
    image_by_pk,
    import_job_of,
    pictures_of,
    rating_job_of,
    source_set_by_name,
    source_set_by_pk,
)
from humanexp.stimuli.services.descriptions import Described, refusal_of
from humanexp.stimuli.services.generation import create_stimulus_set, request_deletion, start_generation
from humanexp.stimuli.services.imports import request_import
from humanexp.stimuli.services.set_files import manifest_lines, original_thumbnail
from humanexp.stimuli.services.sources import delete_source_set, describe_source_set, freeze_source_set

PICTURES_A_PAGE = 60
_KEPT_S = 24 * 3600


@takes_uploads
@login_required
@require_http_methods(["GET", "POST"])
def new_source(request: HttpRequest) -> HttpResponse:
    """Import pictures from an archive or the storage."""
    initial = {"labels": request.GET.get("labels", "")}
    form = ImportForm(request.POST or None, request.FILES or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            request_import(
                order=form.order(by=user_of(request)),
                archive=form.cleaned_data["archive"],
                storage_prefix=form.cleaned_data.get("storage_prefix"),
            )
        except ApplicationError as error:
            field = next((name for name in error.fields if name in form.fields), None)
            form.add_error(field or "archive", error.message)
        else:
            return redirect("stimuli:source_set", name=form.cleaned_data["name"])
    context = {"form": form, "most_mb": settings.PICTURES_UPLOAD_MAX_MB}
    return render(request, "stimuli/sources/new.html", context, status=422 if form.is_bound else 200)


@login_required
@require_GET
def source_set(request: HttpRequest, name: str) -> HttpResponse:
    """A set: what is in it, whether it is enough, what the import left out. While it is imported: how far that is."""
    try:
        found = source_set_by_name(name)
    except NotFound:
        job = import_job_of(name)
        if job is None:
            raise
        return render(request, "stimuli/sources/importing.html", {"name": name, **partial_context(job)})
    if getattr(request, "htmx", False):
        return render(request, "stimuli/sources/_gallery.html", _gallery(request, found))
    return render(request, "stimuli/sources/source_set.html", _source_context(request, found))


@login_required
@require_POST
def describe(request: HttpRequest, name: str) -> HttpResponse:
    """Change the notes on provenance and licence."""
    found = source_set_by_name(name)
    form = NotesForm(request.POST)
    if not form.is_valid():
        return render(request, "stimuli/sources/source_set.html", _source_context(request, found, form), status=422)
    describe_source_set(source_set=found, **form.cleaned_data, by=user_of(request))
    messages.success(request, "The notes are saved.")
    return redirect("stimuli:source_set", name=name)


@login_required
@require_POST
def freeze(request: HttpRequest, name: str) -> HttpResponse:
    """Let nothing in the set change any more."""
    freeze_source_set(source_set=source_set_by_name(name), by=user_of(request))
    messages.success(request, "The set is frozen.")
    return redirect("stimuli:source_set", name=name)


@login_required
@require_POST
def delete_source(request: HttpRequest, name: str) -> HttpResponse:
    """Remove a set that is neither frozen nor used."""
    delete_source_set(source_set=source_set_by_name(name), by=user_of(request))
    messages.success(request, f"The pictures {name} are deleted.")
    return redirect("stimuli:stimulus_sets")


@login_required
@require_GET
@cache_control(private=True, max_age=_KEPT_S)
def thumbnail(request: HttpRequest, pk: int, size: str) -> FileResponse:
    """An original, small: never the file that was imported."""
    path = original_thumbnail(image_by_pk(pk), size)
    return FileResponse(path.open("rb"), content_type="image/jpeg")


def _source_context(request: HttpRequest, found: SourceSet, form: NotesForm | None = None) -> dict[str, Any]:
    categories = counts_by_category(found)
    n_images = sum(row.n for row in categories)
    answers = answers_for(n_images, len(found.space))
    rated = bool(found.gold_classifiers)
    return {
        "source_set": found,
        "n_images": n_images,
        "n_categories": sum(row.n > 0 for row in categories),
        "n_agreed": sum(row.n_agreed for row in categories),
        "rated": rated,
        "categories": [
            {
                "row": row,
                "word": found.space[row.category].further_word,
                "is_thin": 2 * row.n < n_images / len(categories),
                "is_missing": row.n == 0,
            }
            for row in categories
        ],
        "answers": answers,
        "stimulus_sets": list(found.stimulus_sets.all()),
        "notes_form": form or NotesForm(initial={"provenance": found.provenance, "licence": found.licence}),
        "report": found.import_report,
        "read_otherwise": [row for row in found.import_report.get("read", []) if row[0] != row[1]],
        **partial_context(rating_job_of(found)),
        **_gallery(request, found),
    }


def _gallery(request: HttpRequest, found: SourceSet) -> dict[str, Any]:
    category, agreement = request.GET.get("category", ""), request.GET.get("agreement", "")
    names = [row.category for row in counts_by_category(found)]
    pictures = pictures_of(found, category=category if category in names else "", agreement=agreement)
    page = Paginator(pictures, PICTURES_A_PAGE).get_page(request.GET.get("page"))
    return {
        "source_set": found,
        "page": page,
        "category": category,
        "agreement": agreement,
        "names": names,
        "rated": bool(found.gold_classifiers),
    }


@login_required
@require_GET
def stimulus_sets(request: HttpRequest) -> HttpResponse:
    """Sets of stimuli, and the pictures that sets can be made from."""
    context = {"rows": set_browser.set_rows(), "source_sets": sources.source_sets()}
    return render(request, "stimuli/stimulus_sets.html", context)


@login_required
def new(request: HttpRequest) -> HttpResponse:
    """Describe a set and start making it."""
    form = StimulusSetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        by = user_of(request)
        try:
            stimulus_set = create_stimulus_set(Described(**form.cleaned_data), by=by)
        except InvalidRequest as error:
            field = next((name for name in error.fields if name in form.fields), None)
            form.add_error(field, error.message)
        else:
            start_generation(stimulus_set=stimulus_set, by=by)
            return redirect("stimuli:stimulus_set", name=stimulus_set.name)
    status = 422 if form.is_bound else 200
    source_sets = list(sources.source_sets())
    chosen = next((one for one in source_sets if str(one.pk) == str(form["source_set"].value())), None)
    context = {"form": form, "source_sets": source_sets, "source_set": chosen or next(iter(source_sets), None)}
    return render(request, "stimuli/new.html", context, status=status)


@login_required
@require_GET
@cache_control(private=True, max_age=3600)
def example(request: HttpRequest, function: str) -> HttpResponse:
    """What a function does to the first picture of a set; `?source_set=` is its key."""
    source_set = source_set_by_pk(request.GET.get("source_set", ""))
    return HttpResponse(previews.function_example(source_set, function), content_type="image/png")


@login_required
@require_GET
def estimate(request: HttpRequest) -> HttpResponse:
    """What the set that a half-filled form describes would take."""
    lists = {name: request.GET.getlist(name) for name in ("corruptions", "person_families")}
    values = {**request.GET.dict(), **lists, "name": "x"}
    form = StimulusSetForm(values)
    context: dict[str, Any] = {"remark": " ".join(map(str, form.errors.get("with_plain", [])))}
    if context["remark"]:  # no two functions are left for plain pairs: the rest can be estimated all the same
        form = StimulusSetForm({name: value for name, value in values.items() if name != "with_plain"})
    if form.is_valid():
        described = Described(**form.cleaned_data)
        try:
            context["estimate"] = previews.estimate(described)
        except AnalysisError:
            if not (refusal := refusal_of(described)):
                raise
            context["remark"] = refusal
        context["by_levels"] = described.sampling == Sampling.LEVELS
    return render(request, "stimuli/_estimate.html", context)


@login_required
@require_GET
def stimulus_set(request: HttpRequest, name: str) -> HttpResponse:
    """A set: how evenly it covers the range, how it looks, how it was made. For htmx the part that grows."""
    found = stimulus_set_by_name(name)
    context = _context(found, latest_for(found.job_subject), request.GET.get("function", ""))
    return render_part(request, "stimuli/stimulus_set.html", context)


@login_required
@require_GET
def coverage_json(request: HttpRequest, name: str) -> JsonResponse:
    """The coverage report with every count, over 40 bins and the paper's 39."""
    return JsonResponse(coverage.coverage_json(stimulus_set_by_name(name)), json_dumps_params={"indent": 1})


@login_required
@require_GET
def coverage_file(request: HttpRequest, name: str, suffix: str) -> HttpResponse:
    """The coverage as a picture; `?function=` says whose stimuli stand below it."""
    if suffix not in FIGURE_KINDS:
        raise NotFound("The coverage comes as .svg, .png and .pdf.")
    found = stimulus_set_by_name(name)
    function = request.GET.get("function", "")
    content = drawn(suffix, lambda path: coverage.write_picture(found, path, function))
    name = f"{found.name}-coverage.{suffix}"
    return attached(content, FIGURE_KINDS[suffix], name, inline="inline" in request.GET)


@login_required
@require_POST
def generate(request: HttpRequest, name: str) -> HttpResponse:
    """Start making the stimuli, or go on where it stopped."""
    start_generation(stimulus_set=stimulus_set_by_name(name), by=user_of(request))
    return redirect("stimuli:stimulus_set", name=name)


@login_required
def delete(request: HttpRequest, name: str) -> HttpResponse:
    """Say what goes, and let it go when its name is typed."""
    found = stimulus_set_by_name(name)
    refusal = ""
    if request.method == "POST":
        if request.POST.get("confirm", "").strip() != found.name:
            refusal = "Type the name of the set exactly as it appears above."
        else:
            try:
                request_deletion(stimulus_set=found, by=user_of(request))
            except ApplicationError as error:
                refusal = error.message
            else:
                messages.success(request, f"The set {name} is being deleted.")
                return redirect("stimuli:stimulus_sets")
    context = {"stimulus_set": found, "n_stimuli": set_browser.size_of(found), "refusal": refusal}
    return render(request, "stimuli/delete.html", context, status=422 if refusal else 200)


@login_required
@require_GET
def manifest(request: HttpRequest, name: str) -> StreamingHttpResponse:
    """Every stimulus of a set as CSV, sent while it is read."""
    found = stimulus_set_by_name(name)
    return StreamingHttpResponse(
        manifest_lines(found),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{found.name}-stimuli.csv"'},
    )


def _context(stimulus_set: StimulusSet, job: Job | None, function: str) -> dict[str, Any]:
    functions = coverage.coverage_of(stimulus_set)
    shown = next((one for one in functions if one.name == function), functions[0] if functions else None)
    return {
        "stimulus_set": stimulus_set,
        "functions": functions,
        "shown": shown,
        "examples": coverage.examples_of(stimulus_set, shown) if shown and shown.n else [],
        "n_stimuli": sum(one.n for one in functions),
        "n_covered": sum(one.covered for one in functions),
        "n_reachable": sum(one.reachable for one in functions),
        # Of the smallest: every other one can be asked for as much.
        "small": min((one for one in functions if one.is_small), key=lambda one: one.n, default=None),
        "n_holding": sum(one.holding for one in functions),
        "n_bins": coverage.OURS * len(functions),
        "n_that_cover": stimuli_that_cover(),
        "uneven": [one for one in functions if not one.is_even],
        "missed": sum(one.missed for one in functions),
        **partial_context(job),
    }
