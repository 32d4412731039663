"""Refusals become pages, and faults on demand meet the calls that they were armed for."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from humanexp.sites.controls import Fault, WaitingFaults, cut_connection
from humanexp.sites.panel.api.protocol import operation_of
from humanexp.sites.panel.errors import Refused

#: A fault for every call of the API.
ANY_OPERATION = "*"
#: The page that studies send people back to.
BACK = "complete.GET"
_HTML = "<!doctype html><title>Maintenance</title><h1>We will be back soon</h1>"


class FaultKind(StrEnum):
    #: The connection is cut; nothing is done.
    LOST_BEFORE = "lost_before"
    #: It is done, and the connection is cut instead of an answer.
    LOST_AFTER = "lost_after"
    #: It is done twice, as if something on the way had sent it again; the second answer is given.
    DOUBLED = "doubled"
    #: It is done at once, and the answer comes late.
    DELAYED = "delayed"
    #: It is done, and half of the answer's body arrives.
    CUT_BODY = "cut_body"
    #: 502; nothing is done.
    BAD_GATEWAY = "bad_gateway"
    #: It is done, and the answer is a 502.
    BAD_GATEWAY_AFTER = "bad_gateway_after"
    #: It is done, and the answer is a page of HTML with status 200.
    HTML = "html"
    #: 429; nothing is done.
    TOO_MANY = "too_many"


FAULTS = WaitingFaults()


def with_fault(fault: Fault, answer: Callable[[], HttpResponse]) -> HttpResponse:
    match fault.kind:
        case FaultKind.LOST_BEFORE:
            return cut_connection(HttpResponse())
        case FaultKind.BAD_GATEWAY:
            return _bad_gateway()
        case FaultKind.TOO_MANY:
            return JsonResponse({"message": "Too many requests", "detail": "Slow down."}, status=429)
    response = answer()
    match fault.kind:
        case FaultKind.LOST_AFTER:
            return cut_connection(response)
        case FaultKind.DOUBLED:
            return answer()
        case FaultKind.DELAYED:
            time.sleep(fault.seconds)
        case FaultKind.CUT_BODY:
            return cut_connection(response, sends=len(response.content) // 2)
        case FaultKind.BAD_GATEWAY_AFTER:
            return _bad_gateway()
        case FaultKind.HTML:
            return HttpResponse(_HTML)
    return response


def _bad_gateway() -> HttpResponse:
    return HttpResponse("<html><h1>502 Bad Gateway</h1></html>", status=502)


class PageRefusals(MiddlewareMixin):
    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, Refused):
            return None
        if request.content_type == "application/json":
            return exception.response()
        page = {"title": exception.title, "why": exception.sentence()}
        return render(request, "panel/refusal.html", page, status=exception.status)


class FaultsOnDemand(MiddlewareMixin):
    """By operation: "submissions.GET", "bonus-payment.POST"; `*` is any call of the API."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: Any, kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        is_api = request.path.startswith("/api/")
        wanted = {operation_of(request), *([ANY_OPERATION] if is_api else [])}
        fault = FAULTS.take(lambda one: one.operation in wanted)
        return None if fault is None else with_fault(fault, lambda: view(request, *args, **kwargs))
