"""Refusals that come before any view: pages for people, problem JSON for addresses of the API."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.views import defaults

from humanexp.core.api.problems import MEDIA_TYPE, problem_body
from humanexp.core.errors import ApplicationError
from humanexp.core.middleware import error_page

API, ENTRY = "/api/", "/take/"


def is_call(request: HttpRequest) -> bool:
    """Whether a script reads the reply: the API, and whatever an entry page posts."""
    return request.path.startswith(API) or (request.method == "POST" and request.path.startswith(ENTRY))


def refused(request: HttpRequest, error: ApplicationError) -> HttpResponse:
    """The error's sentence, for whoever reads the reply."""
    if is_call(request):
        return _problem(error.problem, gettext(error.message), error.status_code)
    return error_page(request, error)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_call(request):
        return _problem("invalid", "This call cannot be read.", 400)
    return defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_call(request):
        return _problem("not-found", "There is nothing here.", 404)
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if is_call(request):
        return _problem("fault", "Something went wrong on our side. What was stored is safe: try again.", 500)
    return defaults.server_error(request)


def _problem(kind: str, detail: str, status: int) -> HttpResponse:
    return JsonResponse(problem_body(kind, detail), status=status, content_type=MEDIA_TYPE)
