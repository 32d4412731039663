from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from analysis.errors import AnalysisError
from humanexp.core.accounts.selectors import user_of
from humanexp.core.errors import ApplicationError, NotFound
from humanexp.core.pages import render_part
from humanexp.experiments import plans, selectors, services, tallies
from humanexp.experiments.design_page import design_page
from humanexp.experiments.drafting.drawing import strip_of
from humanexp.experiments.facts import StudyFacts
from humanexp.experiments.live import live_page
from humanexp.experiments.power.forms import PowerForm
from humanexp.experiments.power.page import power_page
from humanexp.experiments.power.question import planned_answers
from humanexp.experiments.power.reading import estimate_by_pk, estimates_of, power_job
from humanexp.experiments.power.telling_apart import telling_apart
from humanexp.experiments.withdrawals import KEPT_DAYS, undoable
from humanexp.jobs.pace import partial_context

#: Rows of a page.
WITHDRAWN_SHOWN = 50


@never_cache
def run(request: HttpRequest) -> HttpResponse:
    """The shell of the experiment: the same for everybody, it holds nothing about any session."""
    return run_shell(request, StudyFacts(shows_code=True))


def run_shell(request: HttpRequest, facts: StudyFacts) -> HttpResponse:
    """The page that a participant works on, in the words of a study."""
    api = reverse("experiments:run-session").removesuffix("session/")
    return render(request, "run/run.html", {"run_config": {"api": api}, "facts": facts})


@login_required
@require_POST
def count_again(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Have something counted over all answers, and go back to where it is shown."""
    study = selectors.study_for(request.user, slug)
    tallies.request_tally(study=study, name=key, by=user_of(request))
    return redirect(tallies.kind_called(key).url_name, slug=study.slug)


@login_required
def design(request: HttpRequest, slug: str) -> HttpResponse:
    """What is asked of whom: pools, trials, answers planned, protocol."""
    study = selectors.study_for(request.user, slug)
    configuration = selectors.configuration_of(study)
    page = design_page(study, configuration)
    context = {
        "study": study,
        "page": page,
        "strip": strip_of(plans.session_plan(study, 0)[1]),
        "simulates": planned_answers(study) is not None,
        "compares": configuration.design.discrimination is not None,
        "power": power_page(estimates_of(study).first()),
    }
    return render(request, "experiments/design.html", context)


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
            return redirect("experiments:power", slug=slug)
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
    return render(request, "experiments/power.html", context, status=422 if form is not None and form.is_bound else 200)


@login_required
def live(request: HttpRequest, slug: str) -> HttpResponse:
    """Where each participant is, and where people stop; the numbers refresh by themselves."""
    study = selectors.study_for(request.user, slug)
    page = live_page(study, show=request.GET.get("show", ""), number=request.GET.get("page", "1"))
    context = {"study": study, "live": page, "standings": list(page.counts.items())}
    return render_part(request, "experiments/live.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def withdrawn(request: HttpRequest, slug: str) -> HttpResponse:
    """Who took their answers back, until when that can be undone, and the form that does it."""
    study = selectors.study_for(request.user, slug)
    page = Paginator(undoable(study), WITHDRAWN_SHOWN).get_page(request.GET.get("page"))
    context: dict[str, Any] = {"study": study, "page": page, "kept_days": KEPT_DAYS}
    if request.method == "GET":
        return render(request, "experiments/withdrawn.html", context)
    code, reason = request.POST.get("session", ""), request.POST.get("reason", "")
    session = undoable(study).filter(code=code).first()
    if session is None:
        raise NotFound("There is no withdrawn session with this code whose answers are still there.")
    try:
        services.undo_withdrawal(session=session, by=user_of(request), reason=reason)
    except ApplicationError as error:
        context |= {"refused": code, "reason": reason, "complaint": error.message}
        return render(request, "experiments/withdrawn.html", context, status=422)
    told = _("%(code)s counts again. Its earlier links are void: the person goes on by a personal link or a release.")
    messages.success(request, told % {"code": code})
    return redirect("experiments:withdrawn", slug=slug)


@login_required
def study_file(request: HttpRequest, slug: str) -> HttpResponse:
    """The study as study.toml."""
    study = selectors.study_for(request.user, slug)
    response = HttpResponse(selectors.configuration_of(study).to_toml(), content_type="application/toml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}.toml"'
    return response
