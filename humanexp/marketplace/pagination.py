"""Pages by key, not by number: rows added while a client turns pages are neither skipped nor shown twice."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

from django.core import signing
from django.db.models import Model, Q, QuerySet

from humanexp.marketplace.errors import InvalidParameterValue

#: Entries on a page when the client does not say.
DEFAULT_PAGE = 10

Row = TypeVar("Row", bound=Model)


def page_of(
    queryset: QuerySet[Row], parameters: Mapping[str, Any], *, order: tuple[str, ...], scope: str
) -> tuple[list[Row], str | None]:
    """One page, and the token of the next.

    `order` names fields, "-" for descending, and ends with one that is unique.
    `scope` binds a token to the list that it was made for.
    """
    size = parameters.get("MaxResults", DEFAULT_PAGE)
    token = parameters.get("NextToken")
    if token:
        queryset = queryset.filter(_after(order, _read_token(token, scope)))
    rows = list(queryset.order_by(*order)[: size + 1])
    if len(rows) <= size:
        return rows, None
    return rows[:size], _make_token([getattr(rows[size - 1], name.lstrip("-")) for name in order], scope)


def _after(order: tuple[str, ...], values: list[Any]) -> Q:
    """Rows behind `values` in this order."""
    condition, equal = Q(), Q()
    for name, value in zip(order, values, strict=True):
        field = name.lstrip("-")
        comparison = "lt" if name.startswith("-") else "gt"
        condition |= equal & Q(**{f"{field}__{comparison}": value})
        equal &= Q(**{field: value})
    return condition


def _make_token(values: list[Any], scope: str) -> str:
    plain = [value.isoformat() if isinstance(value, datetime) else value for value in values]
    return signing.dumps(plain, salt=f"page:{scope}")


def _read_token(token: str, scope: str) -> list[Any]:
    try:
        values: list[Any] = signing.loads(token, salt=f"page:{scope}")
    except signing.BadSignature as err:
        raise InvalidParameterValue("NextToken is not one that this list has given out.") from err
    return values
