"""A link to a site: the sheet for pasting, and who finished, by the ids that the site knows people by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, ngettext

from humanexp.core import clock
from humanexp.core.errors import ApplicationError, InvalidRequest
from humanexp.core.pages.csv_files import csv_file
from humanexp.core.selectors import user_of
from humanexp.recruitment import money, selectors, services
from humanexp.recruitment.models import LinkTerms, id_here
from humanexp.recruitment.models.people import INVITED
from humanexp.recruitment.pages.link_forms import InvitationForm
from humanexp.recruitment.pages.links import sheet_of
from humanexp.recruitment.pages.views.studies import study_page
from humanexp.recruitment.selectors.site_people import SitePerson
from humanexp.recruitment.services.inviting import Invited, takes_invitations
from humanexp.studies.models import Study

PAGE_SIZE = 50
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


@study_page("GET", "POST")
def invitations(request: HttpRequest, study: Study, pk: int) -> HttpResponseBase:
    """Personal links for a list of people: a list goes in, a file for a mail merge comes out, and no list is kept."""
    campaign = get_object_or_404(selectors.campaigns_of(study).select_related("study"), pk=pk)
    if not takes_invitations(campaign):
        raise Http404
    form, status = InvitationForm(request.POST if "labels" in request.POST else None), 200
    if "revoke" in request.POST:
        count = services.revoke_invitations(campaign=campaign, said=request.POST.get("who", ""), by=user_of(request))
        if count:
            messages.success(request, ngettext("%d link is taken back.", "%d links are taken back.", count) % count)
        else:
            messages.error(request, _("No link of this person is open. Enter the line of your list, or the id."))
        return redirect("recruitment:invitations", slug=study.slug, pk=pk)
    if request.method == "POST" and form.is_valid():
        try:
            made = services.invite(campaign=campaign, by=user_of(request), **form.cleaned_data)
        except ApplicationError as error:
            form.add_error(next((name for name in error.fields if name in form.fields), None), error.message)
        else:
            return _mail_merge(study, made)
    if form.is_bound:
        status = 422
    page = Paginator(campaign.invitations.all(), PAGE_SIZE).get_page(request.GET.get("page"))
    taken = set(
        campaign.assignments_taken.filter(
            person__worker_id__in=[id_here(INVITED, one.code) for one in page.object_list]
        ).values_list("person__worker_id", flat=True)
    )
    rows = [(one, id_here(INVITED, one.code) in taken, one.is_open(clock.now())) for one in page.object_list]
    context = {"study": study, "campaign": campaign, "form": form, "page": page, "rows": rows}
    return render(request, "recruitment/invitations.html", context, status=status)


def _until(one: Invited) -> str:
    return f"{one.invitation.expires_at:%Y-%m-%d}" if one.address else "taken back"


def _mail_merge(study: Study, made: Sequence[Invited]) -> StreamingHttpResponse:
    rows = [(one.label, one.invitation.code, one.address, _until(one)) for one in made]
    return csv_file(f"{study.slug}-links.csv", ("label", "id", "link", "expires"), rows)
