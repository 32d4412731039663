"""Operation name -> function. `operations` fills it, `views.requester` calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from humanexp.marketplace.models import Requester


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request for an operation, checked and signed."""

    operation: str
    requester: Requester
    parameters: Mapping[str, Any]
    #: The marketplace's time; every state in the answer is as of this moment.
    now: datetime
    #: Lists leave out what was made after this; None: they lag behind nothing.
    listed_until: datetime | None = None
    #: Where workers reach this site; no slash at the end.
    site_url: str = ""


Answer = Mapping[str, Any]
#: None: the operation has nothing to say.
OperationFunction = Callable[[Call], Answer | None]


@dataclass(frozen=True, kw_only=True)
class Operation:
    function: OperationFunction
    #: Run in one transaction, with the requester's row locked.
    writes: bool


OPERATIONS: dict[str, Operation] = {}


def operation(name: str, *, writes: bool = False) -> Callable[[OperationFunction], OperationFunction]:
    """Register a function under the name of an operation of the service model."""

    def register(function: OperationFunction) -> OperationFunction:
        OPERATIONS[name] = Operation(function=function, writes=writes)
        return function

    return register
