"""People who may not take part in a study's family: the list, and the way off it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from humanexp.core.errors import ApplicationError, NotAllowed
from humanexp.core.models import User
from humanexp.recruitment import selectors, services
from humanexp.recruitment.views.studies import study_of

PAGE_SIZE = 50


@login_required
@require_GET
def exclusions(request: HttpRequest, slug: str) -> HttpResponse:
    """The list of the family, by code and note."""
    study = study_of(request, slug)
    query = request.GET.get("query", "").strip()[:80]
    page = Paginator(selectors.exclusions(study.family, query), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "page": page,
        "query": query,
        "total": page.paginator.count if not query else selectors.exclusions(study.family).count(),
    }
    return render(request, "recruitment/exclusions.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def exclusion(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One entry, and what it means to take it off; that is shown before it is done."""
    study = study_of(request, slug)
    found = get_object_or_404(selectors.exclusions(study.family), pk=pk)
    if request.method == "GET":
        others = study.family.studies.exclude(pk=study.pk).order_by("pk")
        return render(request, "recruitment/exclusion.html", {"study": study, "exclusion": found, "others": others})
    if not isinstance(request.user, User):
        raise NotAllowed
    try:
        services.lift_exclusion(exclusion=found, study=study, by=request.user)
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, _("%(code)s may take part from now on.") % {"code": found.code})
    return redirect("recruitment:exclusions", slug=slug)
