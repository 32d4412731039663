"""Faults on demand, for tests of the requester's side. They live in this process's memory and are off by default."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from enum import StrEnum

#: A fault for every operation of the requester API.
ANY_OPERATION = "*"
#: The worker site's one write that a requester's page depends on.
EXTERNAL_SUBMIT = "externalSubmit"


class FaultKind(StrEnum):
    #: 400 ThrottlingException; nothing is done.
    THROTTLE = "throttle"
    #: 500 ServiceFault; nothing is done.
    SERVICE_FAULT = "service_fault"
    #: It is done, and the connection is cut instead of an answer.
    DROP_AFTER_COMMIT = "drop_after_commit"
    #: The connection is cut; nothing is done.
    DROP_BEFORE = "drop_before"
    #: It is done, and the answer comes late.
    DELAY = "delay"


@dataclass(kw_only=True)
class Fault:
    operation: str
    kind: FaultKind
    times: int = 1
    #: Of a delay.
    seconds: float = 1.0


class _Faults:
    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self._lock = threading.Lock()

    def arm(self, fault: Fault) -> None:
        with self._lock:
            self._waiting.append(fault)

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()

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
                if fault.operation == operation or any_applies:
                    fault.times -= 1
                    if fault.times <= 0:
                        self._waiting.remove(fault)
                    return fault
        return None


FAULTS = _Faults()
