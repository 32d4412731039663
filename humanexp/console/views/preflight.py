from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from humanexp.console.preflight.gate import standing_of
from humanexp.console.preflight.running import latest_job, request_preflight
from humanexp.console.views.studies import collected_study, user_of
from humanexp.core import clock
from humanexp.jobs.pace import partial_context
from humanexp.recruitment import gates, rehearsal
from humanexp.recruitment.models import Campaign, Environment


@login_required
@require_http_methods(["GET", "POST"])
def preflight(request: HttpRequest, slug: str) -> HttpResponse:
    """Everything that a launch depends on, tried out before anybody is invited; the checks run as a job."""
    study = collected_study(request, slug)
    given = request.POST if request.method == "POST" else request.GET
    to = given.get("to", "")
    if to not in Environment.values:
        to = _usual(study.pk)
    if request.method == "POST":
        request_preflight(study=study, to=to, by=user_of(request))
        return redirect(f"{reverse('console:preflight', args=[slug])}?to={to}")
    job = latest_job(study)
    is_shown = job is not None and (not job.is_finished or job.state == "failed") and job.parameters.get("to") == to
    context = {
        "study": study,
        "to": Environment(to),
        "environments": list(Environment),
        "standing": standing_of(study, to),
        "is_asked": gates.is_asked(study, to),
        "entry": reverse("recruitment:take", args=[rehearsal.entry_of(study=study, to=to)]),
        **partial_context(job if is_shown else None, now=clock.now()),
    }
    template = "console/_preflight.html" if getattr(request, "htmx", False) else "console/preflight.html"
    return render(request, template, context)


def _usual(study_pk: int) -> str:
    """Where the study was last launched, else our own marketplace."""
    last = Campaign.objects.filter(study_id=study_pk).order_by("-pk").values_list("environment", flat=True).first()
    return last or Environment.MARKETPLACE.value
