"""The list of jobs, and the page of each."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRefresh, trigger_client_event

from humanexp.core.errors import existing
from humanexp.core.pages.rendering import render_part
from humanexp.jobs import selectors, services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import partial_context, shown_to

#: Jobs on the list, and so many of the newest that they are chosen from.
LISTED, LOOKED_AT = 50, 200


@login_required
def job_list(request: HttpRequest) -> HttpResponse:
    """What runs, what waits, what ended, as far as it is this researcher's to see."""
    jobs = shown_to(request.user, list(selectors.recent(LOOKED_AT)))[:LISTED]
    return render(
        request,
        "jobs/jobs.html",
        {
            "under_way": [partial_context(job) for job in jobs if not job.is_finished],
            "finished": [partial_context(job) for job in jobs if job.is_finished],
        },
    )


@login_required
def job_page(request: HttpRequest, pk: int) -> HttpResponse:
    """One job: a page, or for htmx the partial that replaces itself until the job has ended."""
    job = _job(pk)
    response = render_part(request, "jobs/job.html", partial_context(job))
    if getattr(request, "htmx", False) and job.is_finished:
        # Pages that wait for the result listen for this.
        trigger_client_event(response, "jobFinished", {"job": job.pk, "state": job.state})
    return response


@login_required
@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    job = jobs.cancel(job=_job(pk))
    if getattr(request, "htmx", False):
        return render(request, "jobs/_job.html", partial_context(job))
    return redirect("jobs:job", pk=job.pk)


@login_required
@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    job = jobs.resume(job=_job(pk))
    # What stands around the job tells that it had stopped.
    return HttpResponseClientRefresh() if getattr(request, "htmx", False) else redirect("jobs:job", pk=job.pk)


def _job(pk: int) -> Job:
    return existing(selectors.by_pk(pk), "There is no such job; finished repeating jobs are forgotten after a while.")
