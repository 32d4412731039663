"""What can be done in the results rooms: analyse, freeze the plan, write a report."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from humanexp.core.errors import InputRefused
from humanexp.core.selectors import user_of
from humanexp.jobs.models import Job
from humanexp.jobs.throughput import partial_context
from humanexp.results import selectors, services
from humanexp.results.pages.views.lookup import run_of
from humanexp.results.pages.views.pages import selection_form
from humanexp.studies import selectors as studies


@login_required
@require_POST
def analyse(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue an analysis, as planned or with the choices of the form; asked twice, one job."""
    study = studies.study_for(request.user, slug)
    form = selection_form(study, selectors.latest_run(study), request.POST)
    if not form.is_valid():
        raise InputRefused(" ".join(str(text) for texts in form.errors.values() for text in texts))
    selection = form.selection
    if not selection.is_as_planned and "again" not in request.POST:
        stored = selectors.run_with(study, selection)
        if stored is not None:
            return redirect(f"{reverse('results:dashboard', args=[slug])}?run={stored.pk}")
    job = services.request_analysis(study=study, selection=selection, by=user_of(request))
    return _under_way(request, job, reverse("results:dashboard", args=[slug]))


@login_required
@require_POST
def freeze(request: HttpRequest, slug: str) -> HttpResponse:
    """Freeze the analysis plan, once confirmed."""
    study = studies.study_for(request.user, slug)
    if "confirmed" not in request.POST:
        raise InputRefused(_("Confirm that the plan is to be frozen: it cannot be undone."))
    plan = services.freeze_analysis_plan(study=study, by=user_of(request))
    messages.success(request, _("The analysis plan is frozen; its SHA-256 is %(digest)s.") % {"digest": plan.digest})
    return redirect("results:methods", slug=slug)


@login_required
@require_POST
def write_report(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue a report on the run that is being looked at."""
    run = run_of(request, slug)
    job = services.request_report(run=run, by=user_of(request))
    return _under_way(request, job, f"{reverse('results:methods', args=[slug])}?run={run.pk}")


def _under_way(request: HttpRequest, job: Job, page: str) -> HttpResponse:
    if getattr(request, "htmx", False):
        return render(request, "jobs/_job.html", partial_context(job))
    return redirect(page)
