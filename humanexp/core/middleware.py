"""What every request passes: probes, an id, the log, the length of its body, and errors as pages.

How long a body may be is decided by what its head says: one that is refused was never read, and is on no disk.
Django reads of a body what Content-Length announces and not a byte more. Where a body has none, as a chunked one, it
would read nothing and take the form for an empty one: that is refused, too.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from analysis.errors import AnalysisError
from humanexp.core import metrics, request_ids
from humanexp.core.errors import ApplicationError, BodyTooLarge, DiskNearlyFull, LengthUnknown
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


#: What a form adds to the file that it carries.
_FORM_BYTES = 1_000_000

View = TypeVar("View", bound=Callable[..., Any])


def takes_uploads(view: View) -> View:
    """A view whose form may carry a file of PICTURES_UPLOAD_MAX_MB, from whoever is signed in.

    The proxy has to let as much through: its files in `deploy/` name the addresses again.
    """
    view.takes_uploads = True  # type: ignore[attr-defined]
    return view


class Bodies(Middleware):
    """Asks before every other middleware that is asked about a view: CSRF protection reads the form."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        try:
            _check(request, takes_files=getattr(view, "takes_uploads", False))
        except ApplicationError as error:
            from humanexp.core.api.problems import refused  # REST framework, which addresses bring, not the start

            return refused(request, error)
        return None


def _check(request: HttpRequest, *, takes_files: bool) -> None:
    if "HTTP_TRANSFER_ENCODING" in request.META:
        raise LengthUnknown
    length = _length(request.META.get("CONTENT_LENGTH") or "0")
    if takes_files and request.content_type == "multipart/form-data" and request.user.is_authenticated:
        _check_upload(length)
    elif length > settings.BODY_MAX_KB * 1000:
        raise BodyTooLarge("Sign in before you send a file." if takes_files else "")


def _length(announced: str) -> int:
    """Django, too, reads nothing of a body whose length is no number."""
    return int(announced) if announced.isdecimal() else 0


def _check_upload(length: int) -> None:
    if length > settings.PICTURES_UPLOAD_MAX_MB * 10**6 + _FORM_BYTES:
        raise BodyTooLarge(
            f"This is larger than {settings.PICTURES_UPLOAD_MAX_MB} MB. Send it in parts, or put it on "
            "the server and use a command there."
        )
    # For a while a file lies there twice: as it came, and copied or unpacked in its place.
    if shutil.disk_usage(settings.MEDIA_ROOT).free - 2 * length < settings.UPLOADS_LEAVE_FREE_MB * 10**6:
        raise DiskNearlyFull
