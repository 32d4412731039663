"""Every payment: on a page, as a file, and what it takes to bring everybody to the wage floor."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from analysis.tables import guard
from humanexp.core.errors import ApplicationError, NotAllowed
from humanexp.core.models import User
from humanexp.core.paging import KeyedPaginator
from humanexp.recruitment import money, selectors, services
from humanexp.recruitment.models import PaymentKind
from humanexp.recruitment.states import WriteState
from humanexp.recruitment.views.studies import study_of

PAGE_SIZE = 50
COLUMNS = (
    "row",
    "kind",
    "cause",
    "participant",
    "amount_cents",
    "fee_cents",
    "state",
    "planned_at",
    "confirmed_at",
    "reason",
)


@login_required
@require_GET
def ledger(request: HttpRequest, slug: str) -> HttpResponse:
    """Every payment, newest first, and whether the sums agree with the other side's."""
    study = study_of(request, slug)
    chosen = _chosen(request)
    tally = selectors.tally_of(study)
    count = None if chosen["query"] else tally.rows(state=chosen["state"], kind=chosen["kind"])
    page = KeyedPaginator(selectors.ledger(study, **chosen), PAGE_SIZE, count=count).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "page": page,
        "chosen": chosen,
        "states": WriteState.choices,
        "kinds": PaymentKind.choices,
        "money": selectors.money_of(study, tally),
        "books": selectors.books(study),
        "differences": selectors.differences(study),
    }
    return render(request, "recruitment/ledger.html", context)


@login_required
@require_GET
def ledger_csv(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """What the page lists, as a file: pseudonyms, and money in cents."""
    study = study_of(request, slug)
    rows = selectors.ledger_rows(study, **_chosen(request))
    response = StreamingHttpResponse(_csv(rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-ledger.csv"'
    return response


@login_required
@require_http_methods(["GET", "POST"])
def top_up(request: HttpRequest, slug: str) -> HttpResponse:
    """Bring everybody's hour to the wage floor, by bonuses through the ledger."""
    study = study_of(request, slug)
    floor_cents = settings.WAGE_FLOOR_CENTS
    if request.method == "POST":
        shown = request.POST.get("shown_total", "")
        try:
            planned = services.top_up(
                study=study,
                floor_cents=floor_cents,
                confirm_total_cents=int(shown) if shown.isdecimal() else None,
                by=_user(request),
            )
        except ApplicationError as error:
            messages.error(request, error.message)
        else:
            text = ngettext(
                "%(n)d bonus is on its way, %(total)s dollars with the fee.",
                "%(n)d bonuses are on their way, %(total)s dollars with fees.",
                planned.people,
            )
            messages.success(request, text % {"n": planned.people, "total": money.dollars(planned.total_cents)})
            return redirect("recruitment:ledger", slug=slug)
    context = {"study": study, "plan": selectors.top_up_plan(study, floor_cents)}
    return render(request, "recruitment/top_up.html", context)


def _user(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise NotAllowed
    return request.user


def _chosen(request: HttpRequest) -> dict[str, str]:
    """The filter, as far as it names something that exists."""
    state, kind = request.GET.get("state", ""), request.GET.get("kind", "")
    return {
        "state": state if state in WriteState.values else "",
        "kind": kind if kind in PaymentKind.values else "",
        "query": request.GET.get("query", "").strip()[:80],
    }


class _Echo:
    """A file that hands each line back."""

    def write(self, line: str) -> str:
        return line


def _csv(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    writer = csv.DictWriter(_Echo(), COLUMNS, extrasaction="ignore")
    yield writer.writeheader()
    for row in rows:
        # what people have written is text to a spreadsheet, whatever it begins with
        yield writer.writerow({name: guard(cell) if isinstance(cell, str) else cell for name, cell in row.items()})
