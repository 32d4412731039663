"""Every payment, on a page and as a file; where the books differ, and bonuses that nothing proves."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from humanexp.core.errors import ApplicationError, InvalidRequest
from humanexp.core.pages.rendering import KeyedPaginator
from humanexp.core.pages.tables import Column, Table
from humanexp.core.selectors import user_of
from humanexp.core.templatetags.components import counted
from humanexp.ledger import payments, top_ups
from humanexp.ledger.decisions import found_paid, look_again, parked_bonuses, pay_again, resolve_difference
from humanexp.ledger.figures import money_of
from humanexp.ledger.models.books import Difference, DifferenceKind
from humanexp.ledger.models.calls import MONEY, Payment
from humanexp.ledger.pages.studies import refusals_told, study_page, whole_number
from humanexp.ledger.payments import tally_of
from humanexp.ledger.reconciliation import books, differences
from humanexp.ledger.wages import top_up_plan
from humanexp.recruiters import money
from humanexp.recruiters.money import SIGNS
from humanexp.recruiters.states import WriteState
from humanexp.studies.models import Study

PAGE_SIZE = 50


def _code(payment: Payment) -> str:
    return payment.assignment.person.participant.code if payment.assignment.person else ""


#: Of the file: people by their codes, never by worker ids, and money in cents.
COLUMNS = (
    Column(name="row", stored="pk"),
    Column(name="kind"),
    Column(name="cause"),
    Column(name="participant", stored=_code),
    Column(name="amount_cents"),
    Column(name="fee_cents"),
    Column(name="tax_cents"),
    Column(name="currency"),
    Column(name="state"),
    Column(name="planned_at", stored="created_at"),
    Column(name="confirmed_at"),
    Column(name="reason"),
)


@study_page("GET")
def ledger(request: HttpRequest, study: Study) -> HttpResponse:
    """Every payment, newest first, and whether the sums agree with the other side's."""
    chosen = _chosen(request)
    tally = tally_of(study)
    count = None if chosen["query"] else tally.rows(state=chosen["state"], kind=chosen["kind"])
    page = KeyedPaginator(payments.ledger(study, **chosen), PAGE_SIZE, count=count).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "page": page,
        "chosen": chosen,
        "filters": [
            ("state", "State", WriteState.choices, chosen["state"]),
            ("kind", "For", [(kind.value, kind.label) for kind in MONEY], chosen["kind"]),
        ],
        "moneys": money_of(tally),
        "confirmed": tally.rows(state=WriteState.CONFIRMED),
        "books": books(study),
        "differences": differences(study),
    }
    return render(request, "recruitment/ledger.html", context)


@study_page("GET")
def ledger_csv(request: HttpRequest, study: Study) -> StreamingHttpResponse:
    """What the page lists, as a file, the oldest first."""
    rows = payments.ledger(study, **_chosen(request)).order_by("pk").iterator(chunk_size=500)
    return Table(COLUMNS, rows).file(f"{study.slug}-ledger.csv")


@study_page("GET", "POST")
def top_up(request: HttpRequest, study: Study) -> HttpResponse:
    """Bring everybody's hour to the wage floor, by bonuses through the ledger."""
    asked = request.POST.get("currency") or request.GET.get("currency") or ""
    currency = asked if asked in SIGNS else ""
    if request.method == "POST":
        with refusals_told(request):
            planned = top_ups.top_up(
                study=study,
                currency=currency,
                confirm_total_cents=whole_number(request.POST.get("shown_total")),
                by=user_of(request),
            )
            on_the_way = counted(planned.people, "bonus is on its way,bonuses are on their way")
            total = money.shown(planned.total_cents, planned.currency)
            messages.success(request, f"{on_the_way}, {total} with fees.")
            return redirect("recruitment:ledger", slug=study.slug)
    context = {"study": study, "plan": top_up_plan(study, currency=currency)}
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
    found = get_object_or_404(differences(study), pk=pk)
    status, posted = 200, {}
    if request.method == "POST":
        posted = {name: request.POST.get(name, "") for name in ("resolution", "note", "confirm")}
        try:
            resolve_difference(
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
            messages.success(request, "Recorded. Payments that waited for this continue.")
            return redirect("recruitment:ledger", slug=study.slug)
    context = {"study": study, "difference": found, "choices": _choices(found), "posted": posted}
    return render(request, "recruitment/difference.html", context, status=status)


def _choices(found: Difference) -> Iterator[tuple[str, str, str]]:
    """What a difference may be: its value, its words, and what follows from it."""
    ours, theirs = (
        "" if cents is None else money.shown(cents, found.currency) for cents in (found.ours_cents, found.theirs_cents)
    )
    if found.can_be_adopted:
        follows = f"The row says {theirs} from now on, not {ours}."
        if not theirs:
            follows = f"The row is planned again: {ours} is sent once the recruiter has been asked again."
        elif not ours:
            follows = f"A confirmed row of {theirs} is added; it counts against the caps."
        yield "adopted", "Adopt what the recruiter says", follows
    yield "explained", "Explain it", "The ledger stays as it is; the reason below says why both are right."
    if found.kind == DifferenceKind.NOT_HERE:
        yield "not-ours", "Not ours", "Someone else who uses this account paid it, for something else."


@study_page("GET", "POST")
def parked(request: HttpRequest, study: Study) -> HttpResponse:
    """Each with what was listed before it was sent, what is listed now, and what the account holds."""
    status = 200
    ticked = {pk for text in request.POST.getlist("payment") if (pk := whole_number(text)) is not None}
    note = request.POST.get("note", "")
    if request.method == "POST":
        try:
            messages.success(request, _decide(request, study, ticked, note))
        except ApplicationError as error:
            messages.error(request, error.message)
            status = error.status_code
        else:
            return redirect("recruitment:parked", slug=study.slug)
    context = {"study": study, "rows": parked_bonuses(study), "ticked": ticked, "note": note}
    return render(request, "recruitment/parked.html", context, status=status)


def _decide(request: HttpRequest, study: Study, ticked: set[int], note: str) -> str:
    by = user_of(request)
    match request.POST.get("decision"):
        case "look":
            look_again(study=study, by=by)
            return "The recruiter is being asked; what it says follows in a moment."
        case "again":
            count = pay_again(study=study, payments=ticked, note=note, by=by)
            return f"{counted(count, 'bonus is,bonuses are')} sent again."
        case "found":
            count = found_paid(study=study, payments=ticked, note=note, by=by)
            return f"{counted(count, 'bonus counts,bonuses count')} as paid."
    raise InvalidRequest("Say what these bonuses are: to be paid again, or paid.")
