"""Faults on demand, for tests of the requester's side. They live in this process's memory and are off by default."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass
from enum import StrEnum

from django.http import HttpResponse

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


@dataclass(kw_only=True)
class Fault:
    operation: str
    kind: FaultKind
    times: int = 1
    #: Of a delay, or of a list's lag.
    seconds: float = 1.0
    #: Of the calls it could meet, so many it meets; the others pass and use nothing up.
    share: float = 1.0


class _Faults:
    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self._lock = threading.Lock()
        self._random = random.Random(0)  # noqa: S311  (which test call fails; no secret)

    def arm(self, fault: Fault) -> None:
        with self._lock:
            self._waiting.append(fault)

    def clear(self, seed: int = 0) -> None:
        """None waits any more, and chance begins anew."""
        with self._lock:
            self._waiting.clear()
            self._random.seed(seed)

    def waiting(self) -> list[Fault]:
        with self._lock:
            return list(self._waiting)

    def take(self, operation: str) -> Fault | None:
        """The next fault for this operation, used up by one."""
        if not self._waiting:
            return None
        with self._lock:
            for fault in self._waiting:
                any_applies = fault.operation == ANY_OPERATION and operation != EXTERNAL_SUBMIT
                meets = fault.operation == operation or any_applies
                if meets and (fault.share >= 1 or self._random.random() < fault.share):
                    fault.times -= 1
                    if fault.times <= 0:
                        self._waiting.remove(fault)
                    return fault
        return None


FAULTS = _Faults()


def fault_after(fault: Fault | None, response: HttpResponse) -> HttpResponse:
    if fault is not None and fault.kind is FaultKind.DROP_AFTER_COMMIT:
        return cut_connection(response)
    if fault is not None and fault.kind is FaultKind.DELAY:
        time.sleep(fault.seconds)
    return response


def cut_connection(response: HttpResponse) -> HttpResponse:
    """Marked for `wsgi.application`."""
    response.cuts_connection = True  # type: ignore[attr-defined]
    return response
