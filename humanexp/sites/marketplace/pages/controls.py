"""/_test/: there if MARKETPLACE_TEST_CONTROLS is set, and for this machine alone."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from humanexp.addresses import is_from_this_machine
from humanexp.sites.controls import Actions, Clock, by_json, fault_actions, visible_to
from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.api.protocol.service import operation_names
from humanexp.sites.marketplace.faults import ANY_OPERATION, EXTERNAL_SUBMIT, FAULTS, FaultKind
from humanexp.sites.marketplace.models.requests import ClockOffset


def _advance(wanted: Clock) -> dict[str, Any]:
    ClockOffset.advance(wanted.advance_seconds)
    return _time()


def _time() -> dict[str, Any]:
    return {"now": clock.now().isoformat()}


_ACTIONS: Actions = {
    "clock": (Clock, _advance),
    **fault_actions(FAULTS, kinds=FaultKind, operations=lambda: operation_names() | {ANY_OPERATION, EXTERNAL_SUBMIT}),
}


@csrf_exempt
@visible_to(is_from_this_machine)
@require_http_methods(["GET", "POST"])
def control(request: HttpRequest, name: str) -> HttpResponse:
    return by_json(request, name, actions=_ACTIONS, shown={"clock": _time, "faults": FAULTS.shown})
