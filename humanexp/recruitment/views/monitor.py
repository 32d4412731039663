from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from humanexp.core.errors import ApplicationError, InvalidRequest, NotAllowed
from humanexp.core.models import User
from humanexp.experiments.models import Study
from humanexp.jobs import services as jobs
from humanexp.recruitment import money, monitor_page, selectors, services
from humanexp.recruitment.models import Hit
from humanexp.recruitment.views.studies import study_of


@login_required
@require_GET
def monitor(request: HttpRequest, slug: str) -> HttpResponse:
    """Who is where, what it has cost, and what waits; the numbers refresh by themselves."""
    study = study_of(request, slug)
    template = "recruitment/_monitor.html" if getattr(request, "htmx", False) else "recruitment/monitor.html"
    return render(request, template, monitor_page.figures(study))


@login_required
@require_GET
def answers(request: HttpRequest, slug: str) -> HttpResponse:
    """Sessions over time and answers, counted over all of them: the monitor asks for it later."""
    study = study_of(request, slug)
    template = "recruitment/_answers.html" if getattr(request, "htmx", False) else "recruitment/answers.html"
    return render(request, template, monitor_page.answers(study))


@login_required
@require_http_methods(["GET", "POST"])
def settle(request: HttpRequest, slug: str) -> HttpResponse:
    """Pay everyone who has submitted, after the exact sum was shown."""
    study = study_of(request, slug)
    if request.method == "GET":
        people, cents = selectors.payable_sum(study)
        unmatched = selectors.unmatched(study).count()
        context = {"study": study, "unmatched": unmatched, "payable": people, "payable_cents": cents}
        return render(request, "recruitment/settle.html", context)
    settlement = services.settle(study=study, by=_user(request))
    messages.success(
        request,
        ngettext(
            "%(count)s approval is on its way, %(cents)s dollars with fees.",
            "%(count)s approvals are on their way, %(cents)s dollars with fees.",
            settlement.planned,
        )
        % {"count": settlement.planned, "cents": money.dollars(settlement.planned_cents)},
    )
    return redirect("recruitment:monitor", slug=study.slug)


@login_required
@require_POST
def sync_now(request: HttpRequest, slug: str) -> HttpResponse:
    """Have the job runner ask the recruiters now, not within the minute."""
    study = study_of(request, slug)
    jobs.submit("recruitment.sync", subject=f"study:{study.pk}", by=_user(request))
    messages.success(request, _("The recruiters are being asked; the numbers follow in a moment."))
    return redirect("recruitment:monitor", slug=study.slug)


@login_required
@require_POST
def try_again(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Send a refused payment once more."""
    study = study_of(request, slug)
    payment = get_object_or_404(selectors.waiting_payments(study), pk=pk)
    services.try_again(payment=payment, by=_user(request))
    messages.success(request, _("The payment is sent again."))
    return redirect("recruitment:monitor", slug=study.slug)


@login_required
@require_POST
def compensate(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Offer a person who finished here, and could not submit there, a HIT that pays what was promised."""
    study = study_of(request, slug)
    row = get_object_or_404(selectors.finished_not_submitted(study), pk=pk)
    try:
        services.compensate(assignment=row, by=_user(request))
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, _("The compensation is on its way: a HIT that this person alone can take."))
    return redirect("recruitment:monitor", slug=study.slug)


@login_required
@require_POST
def resolve(request: HttpRequest, slug: str) -> HttpResponse:
    """Press the button beside something that waits for a person."""
    study = study_of(request, slug)
    try:
        messages.success(request, _resolve(request, study))
    except ApplicationError as error:
        messages.error(request, error.message)
    return redirect("recruitment:monitor", slug=study.slug)


def _resolve(request: HttpRequest, study: Study) -> str:
    subject = request.POST.get("subject", "")
    pk = int(subject) if subject.isdecimal() else 0
    match request.POST.get("kind"):
        case "keys":
            account = get_object_or_404(monitor_page.accounts_of(study), pk=pk)
            services.try_keys_again(environment=account.environment, by=_user(request))
            return _("The keys are being tried; if they are accepted, sending goes on.")
        case "hit":
            hit = get_object_or_404(Hit, pk=pk, campaign__study=study)
            services.retry_hit(hit=hit, by=_user(request))
            return _("The HIT is being published again.")
    raise InvalidRequest(_("There is nothing of this kind to resolve."))


def _user(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise NotAllowed
    return request.user
