from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from analysis.errors import AnalysisError
from humanexp import health
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
    """`/healthz` answers before hosts and sessions are looked at, so that a load balancer can ask by address."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return health.answer() if request.path == "/healthz" else self.get_response(request)


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
