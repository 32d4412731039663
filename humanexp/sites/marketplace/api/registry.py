"""Operation name -> function: `operations` fills it, `views` calls it; and lists a page at a time.

Pages go by key, not by number: rows added while a client turns pages are neither skipped nor shown twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.core import signing
from django.db.models import Model, Q, QuerySet

from humanexp.sites.marketplace.errors import InvalidParameterValue
from humanexp.sites.marketplace.models.accounts import Requester

#: Entries on a page when the client does not say.
DEFAULT_PAGE = 10
#: In a token: all rows are behind, and so many of the entries that follow them.
_REST = "rest"


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


Row = TypeVar("Row", bound=Model)
Structure = Mapping[str, Any]


def list_answer(
    call: Call,
    name: str,
    rows: QuerySet[Row],
    structure: Callable[[Row], Structure],
    *,
    order: tuple[str, ...] = ("pk",),
    within: str = "",
    made: str = "",
    then: Sequence[Structure] = (),
) -> Answer:
    """One page of the list `name`, and the token of the next.

    As at the real service, a page with anything on it has a token: clients turn pages until one is empty.
    `order` names fields, "-" for descending, and ends with one that is unique.
    `within` tells the lists of one operation apart: a token is bound to the list that it was made for.
    `made` names the field that a list which lags behind looks at.
    `then` are entries behind the last of the rows; they stand in no table.
    """
    scope = f"page:{call.operation}:{call.requester.pk}:{within}"
    last = _read_token(call.parameters.get("NextToken"), scope)
    size: int = call.parameters.get("MaxResults", DEFAULT_PAGE)
    passed = 0
    if made and call.listed_until is not None:
        rows = rows.filter(**{f"{made}__lte": call.listed_until})
    if last[:1] == [_REST]:
        rows, passed = rows.none(), int(last[1])
    elif last:
        rows = rows.filter(_after(order, last))
    page = list(rows.order_by(*order)[:size])
    more = then[passed : passed + size - len(page)]
    following = [getattr(page[-1], field.lstrip("-")) for field in order] if page else []
    if more:
        following = [_REST, passed + len(more)]
    structures = [*map(structure, page), *more]
    return {"NextToken": _make_token(following, scope), "NumResults": len(structures), name: structures}


def _after(order: tuple[str, ...], values: list[Any]) -> Q:
    """Rows behind `values` in this order."""
    condition, equal = Q(), Q()
    for name, value in zip(order, values, strict=True):
        field = name.lstrip("-")
        comparison = "lt" if name.startswith("-") else "gt"
        condition |= equal & Q(**{f"{field}__{comparison}": value})
        equal &= Q(**{field: value})
    return condition


def _make_token(values: list[Any], scope: str) -> str | None:
    plain = [value.isoformat() if isinstance(value, datetime) else value for value in values]
    return signing.dumps(plain, salt=scope) if plain else None


def _read_token(token: str | None, scope: str) -> list[Any]:
    try:
        values: list[Any] = signing.loads(token, salt=scope) if token else []
    except signing.BadSignature as err:
        raise InvalidParameterValue("NextToken is not one that this list has given out.") from err
    return values
