from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from humanexp.core.models import User
from humanexp.experiments import selectors as experiment_selectors
from humanexp.experiments.models import Study
from humanexp.jobs import services as jobs
from humanexp.recruitment import money, selectors, services
from humanexp.recruitment.charts import columns
from humanexp.recruitment.views.studies import study_of


@login_required
@require_GET
def monitor(request: HttpRequest, slug: str) -> HttpResponse:
    """Who is where, what it has cost, and what waits; the numbers refresh by themselves."""
    study = study_of(request, slug)
    template = "recruitment/_monitor.html" if getattr(request, "htmx", False) else "recruitment/monitor.html"
    return render(request, template, _figures(study))


@login_required
@require_GET
def ledger(request: HttpRequest, slug: str) -> HttpResponse:
    """Every payment, newest first."""
    study = study_of(request, slug)
    page = Paginator(selectors.ledger(study), 100).get_page(request.GET.get("page"))
    return render(request, "recruitment/ledger.html", {"study": study, "page": page})


@login_required
@require_http_methods(["GET", "POST"])
def settle(request: HttpRequest, slug: str) -> HttpResponse:
    """Pay everyone who has submitted, after the exact sum was shown."""
    study = study_of(request, slug)
    if request.method == "GET":
        context = {"study": study, "unmatched": selectors.unmatched(study).count(), **_payable(study)}
        return render(request, "recruitment/settle.html", context)
    settlement = services.settle(study=study, by=_user(request))
    messages.success(
        request,
        _("%(count)s payments are on their way, %(cents)s dollars with fees.")
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
    user = _user(request)
    if user is not None:
        services.try_again(payment=payment, by=user)
    messages.success(request, _("The payment is sent again."))
    return redirect("recruitment:monitor", slug=study.slug)


def _figures(study: Study) -> dict[str, object]:
    return {
        "study": study,
        "progress": selectors.progress(study),
        "attention": selectors.attention(study),
        "unmatched": selectors.unmatched(study)[:50],
        "waiting": selectors.waiting_payments(study)[:50],
        "recent": selectors.ledger(study)[:10],
        "chart": columns(selectors.sessions_over_time(study)),
        "refused_calls": experiment_selectors.refused_calls(study),
        **_payable(study),
    }


def _payable(study: Study) -> dict[str, object]:
    rows = selectors.payable(study)
    cents = sum(row.campaign.reward_cents + services.reward_fee_cents(row) for row in rows)
    return {"payable": len(rows), "payable_cents": cents}


def _user(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None
