from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from humanexp.console.record import chosen, record_csv, record_page
from humanexp.console.views.studies import study_of, user_of
from humanexp.core.audit import record
from humanexp.core.errors import NotAllowed
from humanexp.experiments.models import Study


@login_required
@require_GET
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    """Who did what in the study, the newest first."""
    links = {"here": reverse("console:audit", args=[slug]), "csv": reverse("console:audit-csv", args=[slug])}
    return _page(request, study_of(request, slug), links)


@login_required
@require_GET
def audit_csv(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """The same lines as a file; the table of addresses enters the download in the record."""
    return _file(request, study_of(request, slug))


@login_required
@require_GET
def house_audit(request: HttpRequest) -> HttpResponse:
    """Who did what in every study and beside them, for administrators."""
    _check_administrator(request)
    return _page(request, None, {"here": reverse("console:house-audit"), "csv": reverse("console:house-audit-csv")})


@login_required
@require_GET
def house_audit_csv(request: HttpRequest) -> StreamingHttpResponse:
    _check_administrator(request)
    record(action="export", subject="record.csv", by=user_of(request))
    return _file(request, None)


def _page(request: HttpRequest, study: Study | None, links: dict[str, str]) -> HttpResponse:
    given = request.GET
    found = record_page(
        study, person=given.get("person", ""), kind=given.get("kind", ""), number=given.get("page", "1")
    )
    template = "console/_audit.html" if getattr(request, "htmx", False) else "console/audit.html"
    return render(request, template, {"study": study, "record": found, "links": links})


def _file(request: HttpRequest, study: Study | None) -> StreamingHttpResponse:
    lines = chosen(study, person=request.GET.get("person", ""), kind=request.GET.get("kind", ""))
    response = StreamingHttpResponse(record_csv(lines), content_type="text/csv; charset=utf-8")
    name = study.slug if study is not None else "house"
    response["Content-Disposition"] = f'attachment; filename="{name}-record.csv"'
    return response


def _check_administrator(request: HttpRequest) -> None:
    if not user_of(request).is_staff:
        raise NotAllowed(_("The record of the whole house is for administrators; each study has its own."))
