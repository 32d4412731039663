"""A link to a site: the sheet for pasting, and who finished, by the ids that the site knows people by."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _

from humanexp.core.errors import InvalidRequest
from humanexp.core.pages.csv_files import csv_file
from humanexp.core.selectors import user_of
from humanexp.recruitment import money, selectors, services
from humanexp.recruitment.models import LinkTerms
from humanexp.recruitment.pages.links import sheet_of
from humanexp.recruitment.pages.views.studies import study_page
from humanexp.recruitment.selectors.site_people import SitePerson
from humanexp.studies.models import Study

COLUMNS = ("id", "submission", "finished", "code", "suggested_bonus", "currency")


@study_page("GET")
def sheet(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """What is pasted at the site, and in which order."""
    return render(request, "recruitment/sheet.html", {"study": study, "sheet": sheet_of(_terms(study, pk))})


@study_page("GET", "POST")
def finished(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Whether somebody has finished, by an id that comes in a form's body: no address holds one."""
    terms = _terms(study, pk)
    context: dict[str, Any] = {"study": study, "terms": terms, "site": selectors.site_of(terms)}
    status = 200
    if request.method == "POST":
        said = request.POST.get("id", "").strip()[:80]
        context |= {"said": said, "is_asked": True}
        try:
            found = services.look_up(terms=terms, said=said, by=user_of(request))
        except InvalidRequest as error:
            context["complaint"], status = _(error.message), 422
        else:
            context |= {"found": found, "bonus": _amount(found.bonus) if found else ""}
    return render(request, "recruitment/finished.html", context, status=status)


@study_page("POST")
def finished_csv(request: HttpRequest, study: Study, pk: int) -> StreamingHttpResponse:
    """Everybody as a file. Of a course, only who has earned credit."""
    terms = _terms(study, pk)
    if terms.pay == "credit":
        ids = services.list_credited(terms=terms, by=user_of(request))
        return csv_file(f"{study.slug}-credit.csv", ("id", "credit"), [(one, "yes") for one in ids])
    people = services.list_finished(terms=terms, by=user_of(request))
    return csv_file(f"{study.slug}-finished.csv", COLUMNS, [_row(terms, one) for one in people])


def _terms(study: Study, pk: int) -> LinkTerms:
    campaign = get_object_or_404(selectors.campaigns_of(study).select_related("study"), pk=pk)
    terms = LinkTerms.of(campaign)
    if terms is None or campaign.capabilities.vouches:
        raise Http404
    return terms


def _row(terms: LinkTerms, one: SitePerson) -> tuple[str, ...]:
    said = {True: "yes", False: "no", None: "under way"}[one.is_finished]
    bonus = "decide" if one.bonus is None else _amount(one.bonus)
    return one.person, one.submission, said, one.code, bonus, terms.currency if bonus else ""


def _amount(bonus: int | None) -> str:
    return money.decimal(bonus) if bonus else ""
