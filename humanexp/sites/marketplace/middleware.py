"""Refusals become pages, and one machine's two names become one."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.deprecation import MiddlewareMixin

from humanexp.addresses import is_loopback
from humanexp.sites.marketplace.errors import WorkRefused
from humanexp.sites.marketplace.pages.answers import refusal
from humanexp.sites.marketplace.visitors import wants_json


class OneLoopbackName(MiddlewareMixin):
    """Pages asked for as 127.0.0.1 are shown at MARKETPLACE_URL's localhost, or the other way round.

    The frame's form is sent to MARKETPLACE_URL, and its answer is shown only inside a page of the same origin.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if request.method == "GET" and request.path != "/healthz" and not wants_json(request):
            asked, canonical = urlsplit(f"//{request.get_host()}"), urlsplit(settings.SITE_URL)
            are_here = all(is_loopback(one.hostname or "") for one in (asked, canonical))
            if asked.netloc != canonical.netloc and are_here:
                return HttpResponseRedirect(f"{settings.SITE_URL}{request.get_full_path()}")
        return None


class WorkRefusals(MiddlewareMixin):
    """A page, or problem JSON for whoever asked for JSON."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return refusal(request, exception) if isinstance(exception, WorkRefused) else None
