"""Faults on demand, for tests of the requester's side."""

from __future__ import annotations

import time
from enum import StrEnum

from django.http import HttpResponse

from humanexp.sites.controls import Fault, WaitingFaults, cut_connection

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
