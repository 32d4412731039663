from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from analysis.errors import AnalysisError
from humanexp.core.errors import ApplicationError
from humanexp.core.pages.rendering import attached
from humanexp.core.selectors import user_of
from humanexp.jobs.throughput import partial_context
from humanexp.studies import plans, selectors, services
from humanexp.studies.pages.design import design_page
from humanexp.studies.pages.forms import PowerForm
from humanexp.studies.pages.power import power_page
from humanexp.studies.pages.session_strip import strip_of
from humanexp.studies.power.discrimination import telling_apart
from humanexp.studies.power.question import planned_answers
from humanexp.studies.selectors import estimate_by_pk, estimates_of, power_job


@login_required
def design(request: HttpRequest, slug: str) -> HttpResponse:
    """What is asked of whom: pools, trials, answers planned, protocol."""
    study = selectors.study_for(request.user, slug)
    configuration = selectors.configuration_of(study)
    context = {
        "study": study,
        "page": design_page(study, configuration),
        "strip": strip_of(plans.session_plan(study, 0)[1]),
        "simulates": planned_answers(study) is not None,
        "compares": configuration.design.discrimination is not None,
        "power": power_page(estimates_of(study).first()),
    }
    return render(request, "studies/design.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def power(request: HttpRequest, slug: str) -> HttpResponse:
    """What the design could show, simulated before anybody is invited."""
    study = selectors.study_for(request.user, slug)
    planned = planned_answers(study)
    form = PowerForm(request.POST or None, planned=planned) if planned else None
    if request.method == "POST" and form is not None and form.is_valid():
        try:
            services.request_power(study=study, question=form.question, by=user_of(request))
        except (ApplicationError, AnalysisError) as error:
            form.add_error(None, str(error))
        else:
            return redirect("studies:power", slug=slug)
    job = power_job(study)
    context = {
        "study": study,
        "planned": planned,
        "apart": telling_apart(study),
        "form": form,
        "power": power_page(estimate_by_pk(study, request.GET.get("estimate", ""))),
        "estimates": estimates_of(study),
        **partial_context(job if job and job.state != "done" else None),
    }
    return render(request, "studies/power.html", context, status=422 if form is not None and form.is_bound else 200)


@login_required
def study_file(request: HttpRequest, slug: str) -> HttpResponse:
    """The study as study.toml."""
    study = selectors.study_for(request.user, slug)
    content = selectors.configuration_of(study).to_toml()
    return attached(content, "application/toml; charset=utf-8", f"{study.slug}.toml")
