"""Bonuses of a person's choice, shown with names and sums before they are paid; and the one top-up of a campaign."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from analysis.errors import TableRefused
from humanexp.core.errors import ApplicationError, CostNotConfirmed, InvalidRequest
from humanexp.core.selectors import user_of
from humanexp.core.templatetags.components import counted
from humanexp.ledger.bonuses import (
    MOST_REASON,
    BonusList,
    bonuses_again,
    campaign_without_room,
    first_bonus_hold,
    pay_bonuses,
    read_bonuses,
)
from humanexp.ledger.models.books import CampaignTopUp
from humanexp.ledger.pages.studies import EqualTopUpForm, MoneyField, study_page, whole_number
from humanexp.ledger.top_ups import top_up_equally
from humanexp.ledger.wages import top_up_offer
from humanexp.recruiters import money
from humanexp.recruiters.campaigns import campaigns_of
from humanexp.recruiters.people import assignments_of
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
