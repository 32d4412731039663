"""Bonuses of which nothing shows whether they were paid, and what a payer makes of them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, ngettext

from humanexp.core.errors import ApplicationError, InvalidRequest
from humanexp.core.selectors import user_of
from humanexp.recruitment import selectors, services
from humanexp.recruitment.pages.views.studies import study_page, whole_number
from humanexp.studies.models import Study


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
    context = {"study": study, "rows": selectors.parked_bonuses(study), "ticked": ticked, "note": note}
    return render(request, "recruitment/parked.html", context, status=status)


def _decide(request: HttpRequest, study: Study, ticked: set[int], note: str) -> str:
    by = user_of(request)
    match request.POST.get("decision"):
        case "look":
            services.look_again(study=study, by=by)
            return _("The recruiter is being asked; what it says follows in a moment.")
        case "again":
            count = services.pay_again(study=study, payments=ticked, note=note, by=by)
            text = ngettext("%(n)d bonus is sent again.", "%(n)d bonuses are sent again.", count)
        case "found":
            count = services.found_paid(study=study, payments=ticked, note=note, by=by)
            text = ngettext("%(n)d bonus counts as paid.", "%(n)d bonuses count as paid.", count)
        case _:
            raise InvalidRequest(_("Say what these bonuses are: to be paid again, or paid."))
    return text % {"n": count}
