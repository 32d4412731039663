from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_GET, require_POST

from humanexp.core import clock
from humanexp.core.errors import InvalidRequest, NotFound
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.jobs.models import Job
from humanexp.jobs.pace import pace_of
from humanexp.stimuli import selectors, services
from humanexp.stimuli.coverage import coverage_of
from humanexp.stimuli.forms import StimulusSetForm
from humanexp.stimuli.models import StimulusSet


@login_required
@require_GET
def stimulus_sets(request: HttpRequest) -> HttpResponse:
    """Sets of stimuli, and the pictures that sets can be made from."""
    sets = list(selectors.stimulus_sets())
    jobs = selectors.jobs_of(sets)
    return render(
        request,
        "stimuli/stimulus_sets.html",
        {
            "rows": [{"stimulus_set": one, "job": jobs.get(one.pk)} for one in sets],
            "source_sets": selectors.source_sets(),
        },
    )


@login_required
def new(request: HttpRequest) -> HttpResponse:
    """Describe a set and start making it."""
    form = StimulusSetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        by = request.user if isinstance(request.user, User) else None
        try:
            stimulus_set = services.create_stimulus_set(**form.cleaned_data, by=by)
        except InvalidRequest as error:
            field = next((name for name in error.fields if name in form.fields), None)
            form.add_error(field, error.message)
        else:
            services.start_generation(stimulus_set=stimulus_set, by=by)
            return redirect("stimuli:stimulus_set", name=stimulus_set.name)
    status = 422 if form.is_bound else 200
    context = {"form": form, "source_sets": selectors.source_sets()}
    return render(request, "stimuli/new.html", context, status=status)


@login_required
@require_GET
def stimulus_set(request: HttpRequest, name: str) -> HttpResponse:
    """A set: how evenly it covers the range, how it looks, how it was made. For htmx the part that grows."""
    found = selectors.stimulus_set_by_name(name)
    job = selectors.job_of(found)
    template = "stimuli/_stimulus_set.html" if getattr(request, "htmx", False) else "stimuli/stimulus_set.html"
    return render(request, template, _context(found, job))


@login_required
@require_POST
def generate(request: HttpRequest, name: str) -> HttpResponse:
    """Start making the stimuli, or go on where it stopped."""
    by = request.user if isinstance(request.user, User) else None
    services.start_generation(stimulus_set=selectors.stimulus_set_by_name(name), by=by)
    return redirect("stimuli:stimulus_set", name=name)


@login_required
@require_GET
def manifest(request: HttpRequest, name: str) -> HttpResponse:
    """Every stimulus of a set as CSV."""
    from analysis.tables import STIMULI

    found = selectors.stimulus_set_by_name(name)
    text = selectors.manifest(found)[STIMULI.names].to_csv(index=False, lineterminator="\n")
    return HttpResponse(
        text,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{found.name}-stimuli.csv"'},
    )


@login_required
@require_GET
def picture(request: HttpRequest, pk: int) -> HttpResponse | FileResponse:
    """A stimulus, for researchers; participants get theirs from the trial API."""
    path = media_path(selectors.stimulus_by_pk(pk).file)
    if not path.is_file():
        raise NotFound("The file of this stimulus is missing: run verify_stimuli.")
    response = FileResponse(path.open("rb"), content_type="image/png")
    patch_cache_control(response, private=True, max_age=3600)
    return response


def _context(stimulus_set: StimulusSet, job: Job | None) -> dict[str, Any]:
    functions = coverage_of(stimulus_set)
    error_lines = job.error.strip().splitlines() if job else []
    return {
        "stimulus_set": stimulus_set,
        "functions": functions,
        "n_stimuli": sum(function.n for function in functions),
        "n_uneven": sum(not function.is_even for function in functions),
        "job": job,
        "pace": pace_of(job, now=clock.now()) if job else None,
        "error_line": error_lines[-1] if error_lines else "",
    }
