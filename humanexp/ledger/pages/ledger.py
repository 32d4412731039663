"""Every payment, on a page and as a file; ledger differences; bonuses, with names and sums before they are paid."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from analysis.errors import TableRefused
from humanexp.core.errors import ApplicationError, CostNotConfirmed, InvalidRequest
from humanexp.core.pages.rendering import Column, KeyedPaginator, Table
from humanexp.core.selectors import user_of
from humanexp.core.templatetags.components import counted
from humanexp.ledger import decisions, payments
from humanexp.ledger.bonuses import (
    MOST_REASON,
    BonusList,
    bonuses_again,
    campaign_without_room,
    first_bonus_hold,
    pay_bonuses,
    read_bonuses,
)
from humanexp.ledger.decisions import (
    found_paid,
    look_again,
    parked_bonuses,
    pay_again,
    resolve_difference,
    top_up_equally,
)
from humanexp.ledger.figures import money_of
from humanexp.ledger.models import MONEY, CampaignTopUp, Difference, DifferenceKind, Payment
from humanexp.ledger.pages.money import EqualTopUpForm, MoneyField, refusals_told, study_page, whole_number
from humanexp.ledger.payments import tally_of
from humanexp.ledger.reconciliation import books, differences
from humanexp.ledger.wages import top_up_offer, top_up_plan
from humanexp.recruiters import money
from humanexp.recruiters.campaigns import campaigns_of
from humanexp.recruiters.money import SIGNS
from humanexp.recruiters.people import assignments_of
from humanexp.recruiters.states import WriteState
from humanexp.studies.models import Study

#: Of a list that is chosen as a file.
MOST_BYTES = 200_000


class BonusForm(forms.Form):
    """Who gets how much, and why."""

    people = forms.CharField(
        label="Who gets how much",
        required=False,
        max_length=MOST_BYTES,
        help_text="One person a line: an id or a code, a comma, the amount. Like A7KQ2M,0.50.",
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
    )
    file = forms.FileField(label="Or a CSV file with the columns id and amount", required=False)
    reason = forms.CharField(
        label="Reason, as the person will read it",
        max_length=MOST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    shown = forms.CharField(required=False, widget=forms.HiddenInput)
    shown_total = forms.IntegerField(required=False, widget=forms.HiddenInput)
    confirm_total = MoneyField(label="Type the total to confirm", required=False)

    def content(self) -> tuple[bytes, str]:
        """The list and its name."""
        file = self.cleaned_data["file"]
        if file is None:
            return self.cleaned_data["people"].encode(), "The list"
        if file.size > MOST_BYTES:
            raise InvalidRequest(f"The file is too large: a list of bonuses has at most {MOST_BYTES} bytes.")
        return file.read(), file.name


@study_page("GET", "POST")
def bonuses(request: HttpRequest, study: Study) -> HttpResponse:
    """First the list, then what it comes to, then the payment of exactly that."""
    if request.method == "GET":
        return _page(request, study, BonusForm(initial={"people": _person(request, study)}))
    form, found = BonusForm(request.POST, request.FILES), None
    if not form.is_valid():
        return _page(request, study, form, status=422)
    try:
        if request.POST.get("step") == "pay":
            found = _shown(study, form.cleaned_data["shown"])
            return _paid(request, study, form, found)
        content, source = form.content()
        found = read_bonuses(study=study, content=content, source=source)
    except (ApplicationError, TableRefused) as error:
        form.add_error(None, str(getattr(error, "message", error)))
        return _page(request, study, form, found, status=getattr(error, "status_code", 422))
    return _page(request, study, form, found)


def _person(request: HttpRequest, study: Study) -> str:
    """The beginning of a list of one, from somebody's page."""
    pk = whole_number(request.GET.get("to"))
    if pk is None:
        return ""
    row = get_object_or_404(assignments_of(study), pk=pk)
    return f"{row.person.participant.code}," if row.person is not None else ""


def _shown(study: Study, shown: str) -> BonusList:
    try:
        said = json.loads(shown)
        amounts = {int(pk): int(cents) for pk, cents in said["amounts"].items()}
        key = str(said["key"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidRequest("The page did not say which bonuses it had shown; check the list again.") from None
    return bonuses_again(study=study, key=key, amounts=amounts)


def _paid(request: HttpRequest, study: Study, form: BonusForm, found: BonusList) -> HttpResponse:
    paid = pay_bonuses(
        study=study,
        bonuses=found,
        reason=form.cleaned_data["reason"],
        shown_total_cents=form.cleaned_data["shown_total"] or 0,
        confirm_total_cents=form.cleaned_data["confirm_total"],
        by=user_of(request),
    )
    on_the_way = counted(len(paid), "bonus is on its way,bonuses are on their way")
    messages.success(request, f"{on_the_way}: {money.shown(found.amount_cents, found.currency)}.")
    return redirect("recruitment:ledger", slug=study.slug)


def _page(
    request: HttpRequest, study: Study, form: BonusForm, found: BonusList | None = None, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {"study": study, "form": form, "bonuses": found}
    if found is not None:
        amounts = {line.assignment.pk: line.amount_cents for line in found.lines}
        context |= {
            "shown": json.dumps({"key": found.key, "amounts": amounts}),
            "total": money.decimal(found.total_cents) if found.is_real_money else "",
            "hold": first_bonus_hold(found),
            "to_raise": campaign_without_room(found) if form.errors else None,
        }
    return render(request, "recruitment/bonuses.html", context, status=status)


@study_page("GET", "POST")
def top_up_campaign(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Pay everybody of a campaign the same, so that the median hour reaches the minimum."""
    campaign = get_object_or_404(campaigns_of(study), pk=pk)
    form, status = EqualTopUpForm(request.POST or None), 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                made = top_up_equally(
                    campaign=campaign,
                    shown_total_cents=form.cleaned_data["shown_total"],
                    confirm_total_cents=form.cleaned_data["confirm_total"],
                    by=user_of(request),
                )
            except ApplicationError as error:
                field = "confirm_total" if isinstance(error, CostNotConfirmed) else None
                form.add_error(field, error.message)
                status = error.status_code
            else:
                each = money.shown(made.amount_cents, campaign.currency)
                messages.success(request, f"Everyone gets {each} in addition; it is on its way.")
                return redirect("recruitment:monitor", slug=study.slug)
    offer = top_up_offer(campaign)
    context = {
        "study": study,
        "campaign": campaign,
        "form": form,
        "done": CampaignTopUp.objects.filter(campaign=campaign).first(),
        "offer": offer,
        "total": money.decimal(offer.total_cents) if offer and campaign.capabilities.asks_for_total else "",
    }
    return render(request, "recruitment/equal_top_up.html", context, status=status)


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
            planned = decisions.top_up(
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
