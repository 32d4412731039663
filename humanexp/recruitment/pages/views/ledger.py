"""Every payment: on a page, as a file, and what it takes to bring everybody to the wage floor."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, ngettext

from humanexp.core.errors import ApplicationError
from humanexp.core.pages.csv_files import csv_file
from humanexp.core.pages.paging import KeyedPaginator
from humanexp.core.selectors import user_of
from humanexp.recruitment import money, selectors, services
from humanexp.recruitment.models import MONEY
from humanexp.recruitment.money import SIGNS
from humanexp.recruitment.pages.views.studies import refusals_told, study_page, whole_number
from humanexp.recruitment.states import WriteState
from humanexp.studies.models import Study

PAGE_SIZE = 50
COLUMNS = (
    "row",
    "kind",
    "cause",
    "participant",
    "amount_cents",
    "fee_cents",
    "tax_cents",
    "currency",
    "state",
    "planned_at",
    "confirmed_at",
    "reason",
)


@study_page("GET")
def ledger(request: HttpRequest, study: Study) -> HttpResponse:
    """Every payment, newest first, and whether the sums agree with the other side's."""
    chosen = _chosen(request)
    tally = selectors.tally_of(study)
    count = None if chosen["query"] else tally.rows(state=chosen["state"], kind=chosen["kind"])
    page = KeyedPaginator(selectors.ledger(study, **chosen), PAGE_SIZE, count=count).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "page": page,
        "chosen": chosen,
        "states": WriteState.choices,
        "kinds": [(kind.value, kind.label) for kind in MONEY],
        "moneys": selectors.money_of(tally),
        "confirmed": tally.rows(state=WriteState.CONFIRMED),
        "books": selectors.books(study),
        "differences": selectors.differences(study),
    }
    return render(request, "recruitment/ledger.html", context)


@study_page("GET")
def ledger_csv(request: HttpRequest, study: Study) -> StreamingHttpResponse:
    """What the page lists, as a file: pseudonyms, and money in cents."""
    rows = selectors.ledger_rows(study, **_chosen(request))
    return csv_file(f"{study.slug}-ledger.csv", COLUMNS, ([row.get(name) for name in COLUMNS] for row in rows))


@study_page("GET", "POST")
def top_up(request: HttpRequest, study: Study) -> HttpResponse:
    """Bring everybody's hour to the wage floor, by bonuses through the ledger."""
    asked = request.POST.get("currency") or request.GET.get("currency") or ""
    currency = asked if asked in SIGNS else ""
    if request.method == "POST":
        with refusals_told(request):
            planned = services.top_up(
                study=study,
                currency=currency,
                confirm_total_cents=whole_number(request.POST.get("shown_total")),
                by=user_of(request),
            )
            text = ngettext(
                "%(n)d bonus is on its way, %(total)s with the fee.",
                "%(n)d bonuses are on their way, %(total)s with fees.",
                planned.people,
            )
            messages.success(
                request, text % {"n": planned.people, "total": money.shown(planned.total_cents, planned.currency)}
            )
            return redirect("recruitment:ledger", slug=study.slug)
    context = {"study": study, "plan": selectors.top_up_plan(study, currency=currency)}
    return render(request, "recruitment/top_up.html", context)


def _chosen(request: HttpRequest) -> dict[str, str]:
    """The filter, as far as it names something that exists."""
    state, kind = request.GET.get("state", ""), request.GET.get("kind", "")
    return {
        "state": state if state in WriteState.values else "",
        "kind": kind if kind in MONEY else "",
        "query": request.GET.get("query", "").strip()[:80],
    }


@study_page("GET", "POST")
def difference(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    found = get_object_or_404(selectors.differences(study), pk=pk)
    status, posted = 200, {}
    if request.method == "POST":
        posted = {name: request.POST.get(name, "") for name in ("resolution", "note", "confirm")}
        try:
            services.resolve_difference(
                difference=found,
                resolution=posted["resolution"],
                note=posted["note"],
                by=user_of(request),
                shown=(whole_number(request.POST.get("ours")), whole_number(request.POST.get("theirs"))),
                is_confirmed=bool(posted["confirm"]),
            )
        except ApplicationError as error:
            messages.error(request, error.message)
            status = error.status_code
        else:
            messages.success(request, _("Recorded. Payments that waited for this continue."))
            return redirect("recruitment:ledger", slug=study.slug)
    context = {"study": study, "difference": found, "posted": posted}
    return render(request, "recruitment/difference.html", context, status=status)
