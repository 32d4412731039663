"""Completion codes that people send in, looked up."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from humanexp.recruitment.selectors.codes import MOST_CODES, codes_in, find_codes
from humanexp.recruitment.views.studies import study_of


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def codes(request: HttpRequest, slug: str) -> HttpResponse:
    """Whose codes these are. Nothing is written; codes come in a form's body, so that no address holds one."""
    study = study_of(request, slug)
    context: dict[str, Any] = {"study": study}
    status = 200
    if request.method == "POST":
        given = codes_in(request.POST.get("codes", ""))
        context["text"] = "\n".join(given[:MOST_CODES])
        if not 1 <= len(given) <= MOST_CODES:
            context["complaint"] = _("Type or paste 1 to %(most)d codes.") % {"most": MOST_CODES}
            status = 422
        else:
            context["found"] = find_codes(study, given)
            context["unknown"] = sum(one.session is None for one in context["found"])
    return render(request, "recruitment/codes.html", context, status=status)
