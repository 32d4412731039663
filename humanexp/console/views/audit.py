from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from humanexp.console.record import chosen, record_csv, record_page
from humanexp.console.views.studies import study_of


@login_required
@require_GET
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    """Who did what in the study, the newest first."""
    study = study_of(request, slug)
    given = request.GET
    found = record_page(
        study, person=given.get("person", ""), kind=given.get("kind", ""), number=given.get("page", "1")
    )
    template = "console/_audit.html" if getattr(request, "htmx", False) else "console/audit.html"
    return render(request, template, {"study": study, "record": found})


@login_required
@require_GET
def audit_csv(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """The same lines as a file."""
    study = study_of(request, slug)
    lines = chosen(study, person=request.GET.get("person", ""), kind=request.GET.get("kind", ""))
    response = StreamingHttpResponse(record_csv(lines), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-record.csv"'
    return response
