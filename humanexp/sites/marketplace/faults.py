"""Faults on demand, for tests of the requester's side; /_test/ arms them, for this machine only."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from humanexp.addresses import is_from_this_machine
from humanexp.sites.controls import (
    Actions,
    Clock,
    Fault,
    WaitingFaults,
    by_json,
    cut_connection,
    fault_actions,
    visible_to,
)
from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.api.protocol import operation_names
from humanexp.sites.marketplace.models.people import ClockOffset

#: A fault for every operation of the requester API.
ANY_OPERATION = "*"
#: The worker site's one write that a requester's page depends on.
EXTERNAL_SUBMIT = "externalSubmit"


class FaultKind(StrEnum):
    #: 400 ThrottlingException; nothing is done.
    THROTTLE = "throttle"
    #: 500 ServiceFault; nothing is done.
    SERVICE_FAULT = "service_fault"
    #: 400 InvalidParameterValue, whatever was asked for; nothing is done.
    REFUSED = "refused"
    #: It is done, and the connection is cut instead of an answer.
    DROP_AFTER_COMMIT = "drop_after_commit"
    #: The connection is cut; nothing is done.
    DROP_BEFORE = "drop_before"
    #: It is done, and the answer comes late.
    DELAY = "delay"
    #: 400 ExpiredTokenException; nothing is done.
    EXPIRED_KEY = "expired_key"
    #: A list that lags behind: what was made in the last `seconds` is not in it.
    STALE = "stale"


FAULTS = WaitingFaults()


def take(operation: str) -> Fault | None:
    """The next fault for this operation, used up by one."""
    return FAULTS.take(
        lambda fault: (
            fault.operation == operation or (fault.operation == ANY_OPERATION and operation != EXTERNAL_SUBMIT)
        )
    )


def fault_after(fault: Fault | None, response: HttpResponse) -> HttpResponse:
    if fault is not None and fault.kind == FaultKind.DROP_AFTER_COMMIT:
        return cut_connection(response)
    if fault is not None and fault.kind == FaultKind.DELAY:
        time.sleep(fault.seconds)
    return response


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
