"""Pages by key, not by number: rows added while a client turns pages are neither skipped nor shown twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.core import signing
from django.db.models import Model, Q, QuerySet

from humanexp.marketplace.errors import InvalidParameterValue

#: Entries on a page when the client does not say.
DEFAULT_PAGE = 10

Row = TypeVar("Row", bound=Model)
Rows = TypeVar("Rows", bound=QuerySet[Any])


def page_of(
    queryset: QuerySet[Row], parameters: Mapping[str, Any], *, order: tuple[str, ...], scope: str
) -> tuple[list[Row], str | None]:
    """One page, and the token of the next.

    As at the real service, a page with anything on it has a token: clients turn pages until one is empty.
    `order` names fields, "-" for descending, and ends with one that is unique.
    `scope` binds a token to the list that it was made for.
    """
    token = parameters.get("NextToken")
    if token:
        queryset = queryset.filter(_after(order, _read_token(token, scope)))
    rows = list(queryset.order_by(*order)[: parameters.get("MaxResults", DEFAULT_PAGE)])
    if not rows:
        return rows, None
    return rows, _make_token([getattr(rows[-1], name.lstrip("-")) for name in order], scope)


def made_until(queryset: Rows, at: datetime | None, by: str) -> Rows:
    """Without what was made after `at`: a list that lags behind."""
    return queryset if at is None else queryset.filter(**{f"{by}__lte": at})


def page_then(
    queryset: QuerySet[Row], rest: Sequence[str], parameters: Mapping[str, Any], *, order: tuple[str, ...], scope: str
) -> tuple[list[Row], Sequence[str], str | None]:
    """One page of rows and, behind the last of them, of entries that stand in no table."""
    token, size = parameters.get("NextToken"), parameters.get("MaxResults", DEFAULT_PAGE)
    begin = 0
    rows: list[Row] = []
    following = None
    if token and _is_token_of(token, f"{scope}:rest"):
        begin = int(_read_token(token, f"{scope}:rest")[0])
    else:
        rows, following = page_of(queryset, parameters, order=order, scope=scope)
    entries = rest[begin : begin + size - len(rows)]
    if entries:
        following = _make_token([begin + len(entries)], f"{scope}:rest")
    return rows, entries, following


def _is_token_of(token: str, scope: str) -> bool:
    try:
        _read_token(token, scope)
    except InvalidParameterValue:
        return False
    return True


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
