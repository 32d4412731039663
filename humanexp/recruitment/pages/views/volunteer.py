"""Pages that anybody may open: the studies that are open to everybody. No account, no cookie; nothing is written."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from humanexp.core.errors import NotFound
from humanexp.core.languages import begin_in
from humanexp.recruitment import selectors
from humanexp.recruitment.pages.volunteering import open_study
from humanexp.studies.languages import bundles_of, language_of_study


@require_safe
@never_cache
def volunteer(request: HttpRequest) -> HttpResponse:
    """Every study that is open now."""
    studies = [open_study(campaign) for campaign in selectors.open_campaigns()]
    return render(request, "recruitment/take/volunteer.html", {"studies": studies, "address": _address(request)})


@require_safe
@never_cache
def study(request: HttpRequest, entry: str) -> HttpResponse:
    """One of them, or one that was open."""
    try:
        campaign = selectors.public_campaign(entry)
    except NotFound:
        nothing: dict[str, object] = {"studies": [], "address": _address(request)}
        return render(request, "recruitment/take/volunteer.html", nothing, status=404)
    begin_in(request, language_of_study(campaign.study), bundles_of(campaign.study))
    page = {"one": open_study(campaign), "address": _address(request)}
    return render(request, "recruitment/take/volunteer_study.html", page)


def _address(request: HttpRequest) -> str:
    """Of the page, as people outside know it, without what somebody wrote behind it."""
    return f"{settings.PUBLIC_URL.rstrip('/')}{request.path}"
