"""Letting a person back into an unfinished session whose browser has lost what it was begun with."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from humanexp.core.errors import ApplicationError, InvalidRequest
from humanexp.recruitment import selectors, services
from humanexp.recruitment.views.studies import study_of, user_of


@login_required
@require_http_methods(["GET", "POST"])
def find_person(request: HttpRequest, slug: str) -> HttpResponse:
    """Whoever writes that they cannot get back in, by the id that they know. It is sent in a form: no log has it."""
    study = study_of(request, slug)
    said = request.POST.get("who", "").strip()
    found = selectors.assignment_of_person(study, said) if said else None
    if found is not None:
        return redirect("recruitment:assignment", slug=study.slug, pk=found.pk)
    context = {"study": study, "said": said, "is_missing": request.method == "POST"}
    return render(request, "recruitment/find_person.html", context, status=422 if request.method == "POST" else 200)


@login_required
@require_POST
def let_in(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Release the session, make a personal link to it, or take either back."""
    study = study_of(request, slug)
    row = get_object_or_404(selectors.assignments_of(study), pk=pk)
    by = user_of(request)
    try:
        match request.POST.get("act"):
            case "release":
                services.release(assignment=row, by=by)
                done = _("Released. Ask the person to open the study again within half an hour, as they did at first.")
            case "link":
                services.make_personal_link(assignment=row, by=by)
                done = _("The personal link is made. Send it to this person alone.")
            case "revoke":
                services.revoke(way=get_object_or_404(row.ways_back, pk=_number(request.POST.get("way"))), by=by)
                done = _("Taken back. It lets nobody in any more.")
            case _:
                raise InvalidRequest
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, done)
    return redirect("recruitment:assignment", slug=study.slug, pk=row.pk)


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 18 else 0
