from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

from django.db import connection
from django.db.utils import Error as DatabaseProblem
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from analysis.errors import AnalysisError
from humanexp.core.errors import ApplicationError

access_log = logging.getLogger("humanexp.access")


class Middleware:
    """Stands around whatever answers a request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)


class AccessLog(Middleware):
    """One line a request: method, path, status, milliseconds. No query string (worker ids ride there), no address."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        start = time.perf_counter()
        response = self.get_response(request)
        elapsed_ms = (time.perf_counter() - start) * 1000
        access_log.info("%s %s %s %.1f", request.method, request.path, response.status_code, elapsed_ms)
        return response


class Health(Middleware):
    """`/healthz` answers before hosts and sessions are looked at, so that a load balancer can ask by address.

    Anybody may ask: it says whether the site can work, and not with what or why not.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path != "/healthz":
            return self.get_response(request)
        is_well = _database_answers()
        answer = JsonResponse({"status": "ok" if is_well else "not ok"}, status=200 if is_well else 503)
        answer["Cache-Control"] = "no-store"
        return answer


def _database_answers() -> bool:
    """Whether a site's tables are there. SQLite would make a file that is missing, and goes on in one that was removed:
    it is looked for first. A writer's lock keeps no reader waiting."""
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists():
        connection.close()
        return False
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
    except DatabaseProblem:
        connection.close()
        return False
    return True


def error_page(request: HttpRequest, error: ApplicationError) -> HttpResponse:
    """The error's sentence as a page."""
    return render(request, "error.html", {"message": error.message}, status=error.status_code)


class ErrorPages(Middleware):
    """An ApplicationError that leaves a page view becomes a page with its sentence and its status code."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, ApplicationError):
            return error_page(request, error)
        if isinstance(error, AnalysisError):
            return render(request, "error.html", {"message": str(error)}, status=409)
        return None
