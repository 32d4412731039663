"""The trouble desk of a study, and of all studies of a member: what waits, until when, and what can be done."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from humanexp.core import clock
from humanexp.core.errors import ApplicationError, InvalidRequest
from humanexp.core.models import User
from humanexp.core.selectors import user_of
from humanexp.recruitment import money, services
from humanexp.recruitment.models import TroubleReport
from humanexp.recruitment.pages.views.studies import study_page
from humanexp.recruitment.selectors.desk import known_of, reports_for, waiting
from humanexp.recruitment.services.desk import LONGEST_ANSWER
from humanexp.studies.models import Study

#: Reports of a page.
PAGE_SIZE = 50


@login_required
@require_GET
def desks(request: HttpRequest) -> HttpResponse:
    """What waits in any study in which the member sees single people."""
    return render(request, "recruitment/desks.html", _list(request, reports_for(user_of(request))))


@study_page("GET")
def desk(request: HttpRequest, study: Study) -> HttpResponse:
    """The same of one study."""
    return render(request, "recruitment/desk.html", {"study": study, **_list(request, _reports(request, study))})


@study_page("GET", "POST")
def report(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """One report: what is known, what was answered, and the buttons."""
    row = get_object_or_404(_reports(request, study), pk=pk)
    said, status = "", 200
    if request.method == "POST":
        said = request.POST.get("text", "")
        try:
            done = _act(request.POST.get("act", ""), request, row)
        except ApplicationError as error:
            messages.error(request, error.message)
            status = error.status_code
        else:
            messages.success(request, done)
            return redirect("recruitment:trouble-report", slug=study.slug, pk=pk)
    context = {
        "study": study,
        "report": row,
        "known": known_of(row),
        "answers": row.answers.select_related("answered_by", "message"),
        "can_bonus": row.assignment is not None and services.can_get_bonus(row.assignment),
        "is_overdue": row.is_overdue(clock.now()),
        "longest": LONGEST_ANSWER,
        "said": said,
    }
    return render(request, "recruitment/trouble_report.html", context, status=status)


def _reports(request: HttpRequest, study: Study) -> QuerySet[TroubleReport]:
    return reports_for(user_of(request), study)


def _list(request: HttpRequest, reports: QuerySet[TroubleReport]) -> dict[str, Any]:
    """Open ones, or with `?show=all` those that were closed, too."""
    now, open_ = clock.now(), waiting(reports)
    shows_all = request.GET.get("show") == "all"
    shown = reports.order_by("-pk") if shows_all else reports.filter(closed_at=None)
    page = Paginator(shown.prefetch_related("answers"), PAGE_SIZE).get_page(request.GET.get("page"))
    return {
        "page": page,
        "rows": [(row, row.is_overdue(now)) for row in page.object_list],
        "waiting": open_.count(),
        "overdue": open_.filter(due_at__lt=now).count(),
        "shows_all": shows_all,
    }


def _act(act: str, request: HttpRequest, row: TroubleReport) -> str:
    by: User = user_of(request)
    match act:
        case "answer":
            services.answer_report(report=row, text=request.POST.get("text", ""), by=by)
            return _("The answer is sent.")
        case "code":
            services.give_code_again(report=row, by=by)
            return _("The code is given again.")
        case "link":
            services.let_back_in(report=row, by=by)
            return _("The personal link is sent.")
        case "pay":
            services.pay_for_failure(report=row, amount_cents=money.cents(request.POST.get("amount", "")), by=by)
            return _("The compensation is on its way.")
        case "close":
            services.close_report(report=row, by=by)
            return _("The report is closed.")
    raise InvalidRequest
