"""Refusals become pages, and one machine's two names become one."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from humanexp.marketplace.errors import WorkRefused
from humanexp.marketplace.views.answers import wants_json
from humanexp.marketplace.views.refusals import refusal

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class OneLoopbackName:
    """Pages asked for as 127.0.0.1 are shown at MARKETPLACE_URL's localhost, or the other way round.

    The frame's form is sent to MARKETPLACE_URL, and its answer is shown only inside a page of the same origin.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.canonical = urlsplit(settings.MARKETPLACE_URL).netloc

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method == "GET" and request.path != "/healthz" and not wants_json(request):
            host = request.get_host()
            names = (host.rpartition(":")[0] or host, self.canonical.rpartition(":")[0] or self.canonical)
            if host != self.canonical and set(names) <= set(_LOOPBACK):
                return HttpResponseRedirect(f"{settings.MARKETPLACE_URL}{request.get_full_path()}")
        return self.get_response(request)


class WorkRefusals:
    """A page, or problem JSON for whoever asked for JSON."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return refusal(request, exception) if isinstance(exception, WorkRefused) else None
