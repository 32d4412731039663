from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, ngettext

from humanexp.core.errors import ApplicationError, InvalidRequest
from humanexp.core.pages.rendering import render_part
from humanexp.core.selectors import user_of
from humanexp.jobs import services as jobs
from humanexp.recruitment import money, selectors, services
from humanexp.recruitment.models import Hit
from humanexp.recruitment.pages import monitor as page
from humanexp.recruitment.pages.views.studies import refusals_told, study_page, whole_number
from humanexp.recruitment.selectors.codes import MOST_CODES, codes_in, find_codes
from humanexp.studies.models import Study


@study_page("GET")
def monitor(request: HttpRequest, study: Study) -> HttpResponse:
    """Who is where, what it has cost, and what waits; the numbers refresh by themselves."""
    return render_part(request, "recruitment/monitor.html", page.figures(study))


@study_page("GET")
def answers(request: HttpRequest, study: Study) -> HttpResponse:
    """Sessions over time and answers, counted over all of them: the monitor asks for it later."""
    return render_part(request, "recruitment/answers.html", page.answers(study))


@study_page("GET", "POST")
def settle(request: HttpRequest, study: Study) -> HttpResponse:
    """Pay everyone who is owed something, after the exact sum was shown: the click carries it."""
    status = 200
    if request.method == "POST":
        try:
            return _settled(request, study)
        except ApplicationError as error:
            messages.error(request, error.message)
            status = error.status_code
    owed = selectors.owed(study)
    payable = selectors.payable(owed)
    sums = selectors.sums_of(payable)
    context = {
        "study": study,
        "lines": page.owed_lines(payable),
        "payable": len(payable),
        "payable_sums": sums,
        "shown": json.dumps(sums),
        "held": page.held_rows(owed),
        "held_beside": max(0, sum(row.hold is not None for row in owed) - page.SHOWN),
    }
    return render(request, "recruitment/settle.html", context, status=status)


def _settled(request: HttpRequest, study: Study) -> HttpResponse:
    if request.POST.get("first"):
        row = get_object_or_404(selectors.assignments_of(study), pk=whole_number(request.POST["first"]))
        payment = services.pay_first_late(assignment=row, by=user_of(request))
        amount = money.shown(payment.amount_cents, payment.currency)
        messages.success(request, _("%s is on its way. The others can be paid once it is seen to arrive.") % amount)
        return redirect("recruitment:settle", slug=study.slug)
    settlement = services.settle(study=study, by=user_of(request), shown=_shown(request))
    messages.success(
        request,
        ngettext(
            "%(count)s payment is on its way, %(sums)s with fees.",
            "%(count)s payments are on their way, %(sums)s with fees.",
            settlement.planned,
        )
        % {"count": settlement.planned, "sums": money.listed(settlement.sums)},
    )
    return redirect("recruitment:monitor", slug=study.slug)


def _shown(request: HttpRequest) -> dict[str, int]:
    """The sums on the page from which this was sent."""
    try:
        found = json.loads(request.POST.get("shown", ""))
        return {str(currency): int(cents) for currency, cents in found.items()}
    except (ValueError, AttributeError, TypeError):
        raise InvalidRequest(_("The page did not say what it had shown; open it again.")) from None


@study_page("POST")
def sync_now(request: HttpRequest, study: Study) -> HttpResponse:
    """Have the job runner ask the recruiters now, not within the minute."""
    jobs.submit("recruitment.sync", subject=f"study:{study.pk}", by=user_of(request))
    messages.success(request, _("The recruiters are being asked; the numbers follow in a moment."))
    return redirect("recruitment:monitor", slug=study.slug)


@study_page("POST")
def try_again(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Send a refused payment once more."""
    payment = get_object_or_404(selectors.waiting_payments(study), pk=pk)
    services.try_again(payment=payment, by=user_of(request))
    messages.success(request, _("The payment is sent again."))
    return redirect("recruitment:monitor", slug=study.slug)


@study_page("POST")
def compensate(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Pay a person who finished here and could not submit there, or note that they were paid by hand."""
    row = get_object_or_404(selectors.finished_not_submitted(study), pk=pk)
    with refusals_told(request):
        if request.POST.get("by") == "hand":
            services.note_paid_by_hand(assignment=row, by=user_of(request))
            messages.success(request, _("Nothing more is owed to this person."))
        else:
            services.compensate(assignment=row, by=user_of(request))
            messages.success(request, _("The compensation is on its way."))
    return redirect("recruitment:monitor", slug=study.slug)


@study_page("POST")
def resolve(request: HttpRequest, study: Study) -> HttpResponse:
    """Press the button beside something that waits for a person."""
    with refusals_told(request):
        messages.success(request, _resolve(request, study))
    return redirect("recruitment:monitor", slug=study.slug)


def _resolve(request: HttpRequest, study: Study) -> str:
    pk = whole_number(request.POST.get("subject"))
    match request.POST.get("kind"):
        case "keys":
            account = get_object_or_404(page.accounts_of(study), pk=pk)
            services.try_keys_again(environment=account.environment, by=user_of(request))
            return _("The keys are being tried; if they are accepted, sending continues.")
        case "hit":
            hit = get_object_or_404(Hit, pk=pk, campaign__study=study)
            services.retry_hit(hit=hit, by=user_of(request))
            return _("Its places are being offered again.")
    raise InvalidRequest(_("There is nothing of this kind to resolve."))


@study_page("GET", "POST")
def codes(request: HttpRequest, study: Study) -> HttpResponse:
    """Whose codes these are. Nothing is written; codes come in a form's body, so that no address holds one."""
    context: dict[str, Any] = {"study": study}
    status = 200
    if request.method == "POST":
        given = codes_in(request.POST.get("codes", ""))
        context["text"] = "\n".join(given[:MOST_CODES])
        if not 1 <= len(given) <= MOST_CODES:
            context["complaint"] = _("Type or paste 1 to %(most)d codes.") % {"most": MOST_CODES}
            status = 422
        else:
            context["found"] = find_codes(study, given)
            context["unknown"] = sum(one.session is None for one in context["found"])
    return render(request, "recruitment/codes.html", context, status=status)
