from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from humanexp.marketplace.errors import WorkRefused
from humanexp.marketplace.pages.answers import problem, wants_json


def refusal(request: HttpRequest, err: WorkRefused, *, in_frame: bool = False) -> HttpResponse:
    """What cannot be done, why, and where to go on."""
    if wants_json(request):
        return problem(err.kind, err.title, err.message, status=err.status)
    page = {"title": err.title, "detail": err.message, "in_frame": in_frame}
    return render(request, "marketplace/refusal.html", page, status=err.status)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    if wants_json(request):
        return problem("csrf", "No or wrong CSRF token", reason, status=403)
    detail = _("This form was open too long, or cookies are switched off. Go back, reload the page and send it again.")
    page = {"title": _("Please send it again"), "detail": detail}
    return render(request, "marketplace/refusal.html", page, status=403)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    detail = _("The address may be mistyped, or the work behind it has ended.")
    if wants_json(request):
        return problem("not-found", "Nothing here", detail, status=404)
    return render(request, "marketplace/refusal.html", {"title": _("Nothing here"), "detail": detail}, status=404)
