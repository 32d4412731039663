from __future__ import annotations

import logging
import time
from collections.abc import Callable
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from analysis.errors import AnalysisError
from humanexp.core import metrics, request_ids
from humanexp.core.errors import ApplicationError
from humanexp.core.probes import PROBES

access_log = logging.getLogger("humanexp.access")
#: Anybody can make up others, and each would be a series of its own.
_METHODS = {name: name for name in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")}


class Middleware:
    """Stands around whatever answers a request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)


class AccessLog(Middleware):
    """One line a request: method, path, status, milliseconds. No query string (worker ids ride there), no address.

    The path is written as it was sent, with its percent signs: a line break in it would begin a line of its own.
    Metrics know the route alone: paths hold codes of sessions.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        start = time.perf_counter()
        response = self.get_response(request)
        elapsed_s = time.perf_counter() - start
        facts = {"method": request.method, "path": quote(request.path), "status": response.status_code}
        access_log.info("%s %s %s %.1f", *facts.values(), 1000 * elapsed_s, extra={**facts, "ms": 1000 * elapsed_s})
        route = request.resolver_match.route if request.resolver_match else "unknown"
        metrics.REQUESTS.labels(route, _METHODS.get(request.method or "", "other"), response.status_code).inc()
        metrics.SECONDS.labels(route.partition("/")[0] or "start").observe(elapsed_s)
        return response


class Probes(Middleware):
    """Probes are answered before hosts and sessions are looked at, so that a load balancer can ask by address."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        probe = PROBES.get(request.path)
        return self.get_response(request) if probe is None else probe(request)


class RequestId(Middleware):
    """Gives every request an id, which its answer tells, or takes over the one that a proxy has given."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with request_ids.within(request.headers.get("X-Request-ID", "")) as request_id:
            response = self.get_response(request)
        response["X-Request-ID"] = request_id
        return response


class KeptNowhere(Middleware):
    """No browser and no proxy keeps what the console answers, files included: it is about people and money.

    A picture's view says how long a browser may keep it. Participants' pages say it themselves, and static files are
    answered before this is asked.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not request.path.startswith(settings.PARTICIPANT_PATHS):
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response


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
