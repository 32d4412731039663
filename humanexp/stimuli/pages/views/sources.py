"""Sets of pictures: import them, look at them, freeze them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from analysis.labels.files import default_labels
from humanexp.core.errors import ApplicationError, NotFound
from humanexp.core.middleware import takes_uploads
from humanexp.core.selectors import user_of
from humanexp.jobs.selectors import partial_context
from humanexp.stimuli.models import SourceSet
from humanexp.stimuli.pages.forms import ImportForm, NotesForm
from humanexp.stimuli.selectors.sources import (
    answers_for,
    counts_by_category,
    image_by_pk,
    import_job_of,
    pictures_of,
    rating_job_of,
    source_set_by_name,
)
from humanexp.stimuli.services.importing import request_import
from humanexp.stimuli.services.sources import delete_source_set, describe_source_set, freeze_source_set
from humanexp.stimuli.services.thumbnails import original_thumbnail

PICTURES_A_PAGE = 60
_KEPT_S = 24 * 3600


@takes_uploads
@login_required
@require_http_methods(["GET", "POST"])
def new_source(request: HttpRequest) -> HttpResponse:
    """Import pictures from an archive or the storage."""
    form = ImportForm(request.POST or None, request.FILES or None)
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
    answers = answers_for(n_images)
    rated = bool(found.gold_classifiers)
    return {
        "source_set": found,
        "n_images": n_images,
        "n_categories": sum(row.n > 0 for row in categories),
        "n_agreed": sum(row.n_agreed for row in categories),
        "rated": rated,
        "categories": [
            {"row": row, "is_thin": 2 * row.n < n_images / len(categories), "is_missing": row.n == 0}
            for row in categories
        ],
        "answers": answers,
        "stimulus_sets": list(found.stimulus_sets.all()),
        "notes_form": form or NotesForm(initial={"provenance": found.provenance, "licence": found.licence}),
        "report": found.import_report,
        **partial_context(rating_job_of(found)),
        **_gallery(request, found),
    }


def _gallery(request: HttpRequest, found: SourceSet) -> dict[str, Any]:
    category, agreement = request.GET.get("category", ""), request.GET.get("agreement", "")
    pictures = pictures_of(found, category=category if category in default_labels().ids else "", agreement=agreement)
    page = Paginator(pictures, PICTURES_A_PAGE).get_page(request.GET.get("page"))
    return {
        "source_set": found,
        "page": page,
        "category": category,
        "agreement": agreement,
        "names": default_labels().ids,
        "rated": bool(found.gold_classifiers),
    }
