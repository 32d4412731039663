"""The money page of a study, and that of all studies for administrators."""

from __future__ import annotations

from typing import get_args

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from humanexp.core.audit import record
from humanexp.core.errors import NotAllowed
from humanexp.core.ownership import keeps_money
from humanexp.core.pages.csv_files import csv_file
from humanexp.core.selectors import user_of
from humanexp.recruitment.pages import money_page as page
from humanexp.recruitment.pages.views.studies import study_page
from humanexp.recruitment.selectors.statements import By
from humanexp.studies.models import Study


@study_page("GET")
def money(request: HttpRequest, study: Study) -> HttpResponse:
    """What the study promised, owes and paid, by recruiter, month and person."""
    return render(request, "recruitment/money.html", page.page_of(study))


@study_page("GET")
def money_csv(request: HttpRequest, study: Study, by: str) -> StreamingHttpResponse:
    """A statement of the study; the table of addresses enters the download in the record."""
    return _file(by, page.OF_STUDY, study)


@login_required
@require_GET
def all_money(request: HttpRequest) -> HttpResponse:
    """The same over all studies."""
    _check_treasurer(request)
    return render(request, "recruitment/money.html", page.page_of(None))


@login_required
@require_GET
def all_money_csv(request: HttpRequest, by: str) -> StreamingHttpResponse:
    _check_treasurer(request)
    reply = _file(by, page.OF_ALL, None)
    record(action="export", subject="money.csv", by=user_of(request))
    return reply


def _check_treasurer(request: HttpRequest) -> None:
    if not keeps_money(request.user):
        raise NotAllowed(
            _("Only treasurers and administrators can see the money of all studies. Each study has its own page.")
        )


def _file(named: str, kinds: tuple[By, ...], study: Study | None) -> StreamingHttpResponse:
    by = next((one for one in get_args(By) if one == named and one in kinds), None)
    if by is None:
        raise Http404
    columns = page.columns_of(by)
    rows = ([row.get(column) for column in columns] for row in page.rows_of(by, study))
    return csv_file(f"{study.slug if study else 'all-studies'}-money-by-{by}.csv", columns, rows)
