"""Whether the site is up, and /_test/: there if MARKETPLACE_TEST_CONTROLS is set, and for this machine alone."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from humanexp import health
from humanexp.sites.controls import Fault, from_this_machine
from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.api.protocol.service import operation_names
from humanexp.sites.marketplace.clock import advance
from humanexp.sites.marketplace.errors import InvalidParameterValue
from humanexp.sites.marketplace.faults import ANY_OPERATION, EXTERNAL_SUBMIT, FAULTS, FaultKind
from humanexp.sites.marketplace.pages.answers import problem


@csrf_exempt
@from_this_machine
@require_http_methods(["GET", "POST"])
def clock_control(request: HttpRequest) -> HttpResponse:
    """POST {"advance_seconds": 60} moves the marketplace's clock forward; GET reads it."""
    if request.method == "POST":
        try:
            advance(seconds=float(_body(request).get("advance_seconds", 0)))
        except (InvalidParameterValue, TypeError, ValueError) as err:
            return problem("invalid", "Not a number of seconds", str(err), status=422)
    return JsonResponse({"now": clock.now().isoformat()})


@csrf_exempt
@from_this_machine
@require_http_methods(["GET", "POST", "DELETE"])
def fault_control(request: HttpRequest) -> HttpResponse:
    """POST {"operation", "kind", "times", "seconds", "share"} arms a fault; GET lists what waits.

    DELETE clears all; {"seed": 7} with it makes the shares repeatable.
    """
    if request.method == "DELETE":
        FAULTS.clear(int(_body(request).get("seed", 0)))
    if request.method == "POST":
        try:
            FAULTS.arm(_fault(_body(request)))
        except (KeyError, TypeError, ValueError) as err:
            return problem("invalid", "No such fault", str(err), status=422)
    return JsonResponse({"faults": [asdict(fault) for fault in FAULTS.waiting()]})


def _fault(wanted: dict[str, Any]) -> Fault:
    operation = wanted["operation"]
    if operation not in operation_names() | {ANY_OPERATION, EXTERNAL_SUBMIT}:
        raise ValueError(f"{operation!r} is no operation")
    return Fault(
        operation=operation,
        kind=FaultKind(wanted["kind"]),
        times=int(wanted.get("times", 1)),
        seconds=float(wanted.get("seconds", 1.0)),
        share=float(wanted.get("share", 1.0)),
    )


def _body(request: HttpRequest) -> dict[str, Any]:
    body = json.loads(request.body or b"{}")
    if not isinstance(body, dict):
        raise ValueError("a JSON object is needed")
    return body


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Up, and the database answers."""
    return health.answer(service="marketplace")
