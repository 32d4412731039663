"""A difference in the books: what each side says, and what a person makes of it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from humanexp.core.errors import ApplicationError, NotAllowed
from humanexp.core.models import User
from humanexp.recruitment import selectors, services
from humanexp.recruitment.views.studies import study_of


@login_required
@require_http_methods(["GET", "POST"])
def difference(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    study = study_of(request, slug)
    found = get_object_or_404(selectors.differences(study), pk=pk)
    status, posted = 200, {}
    if request.method == "POST":
        posted = {name: request.POST.get(name, "") for name in ("resolution", "note", "confirm")}
        try:
            services.resolve_difference(
                difference=found,
                resolution=posted["resolution"],
                note=posted["note"],
                by=_user(request),
                shown=(_cents(request.POST.get("ours", "")), _cents(request.POST.get("theirs", ""))),
                is_confirmed=bool(posted["confirm"]),
            )
        except ApplicationError as error:
            messages.error(request, error.message)
            status = error.status_code
        else:
            messages.success(request, _("It is written down; what waited for it goes on."))
            return redirect("recruitment:ledger", slug=slug)
    context = {"study": study, "difference": found, "posted": posted}
    return render(request, "recruitment/difference.html", context, status=status)


def _cents(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _user(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise NotAllowed
    return request.user
