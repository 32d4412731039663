"""The requester API: which function does an operation, lists by page, and the view that answers a signed POST.

Pages go by key, not by number: rows added while a client turns pages are neither skipped nor shown twice.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from humanexp.sites.controls import Fault, cut_connection, site_url
from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.accounts import active_key
from humanexp.sites.marketplace.api import protocol
from humanexp.sites.marketplace.api.protocol import Authorization, SignedRequest, verify
from humanexp.sites.marketplace.errors import InvalidParameterValue, ProtocolError, RequestError, UnrecognizedClient
from humanexp.sites.marketplace.faults import FaultKind, fault_after, take
from humanexp.sites.marketplace.models.people import Requester

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


logger = logging.getLogger(__name__)

_CONTENT_TYPE = "application/x-amz-json-1.1"


@csrf_exempt  # no cookie is looked at: every request carries its own signature
@require_POST
def requester_api(request: HttpRequest) -> HttpResponse:
    """One call of one operation."""
    real_now = timezone.now()
    try:
        requester = _authenticate(request, real_now)
        operation = protocol.operation_of(request.headers.get("X-Amz-Target", ""))
        fault = take(operation)
        early = _fault_before(fault)
        if early is not None:
            return early
        answer = _answer(operation, requester, request.body, own_url=site_url(request), lag=_lag(fault))
        response = _json(answer)
    except ProtocolError as err:
        return _json({"__type": err.code, "message": err.message}, status=400)
    except RequestError as err:
        return _refusal("RequestError", err.message, err.turk_error_code, status=400, at=real_now)
    except Exception:
        logger.exception("Operation failed")
        return _refusal("ServiceFault", "Service fault.", "AWS.ServiceFault", status=500, at=real_now)
    return fault_after(fault, response)


def _authenticate(request: HttpRequest, real_now: datetime) -> Requester:
    """The requester whose key signed this; the machine's clock counts, as it does for the client."""
    authorization = Authorization.parse(request.headers.get("Authorization", ""))
    if "X-Amz-Security-Token" in request.headers:  # there are no temporary credentials here
        raise UnrecognizedClient
    key = active_key(authorization.access_key_id)
    signed = SignedRequest(
        method=request.method or "",
        path=request.path,
        query=request.META.get("QUERY_STRING", ""),
        headers={name.lower(): value for name, value in request.headers.items()},
        body=request.body,
    )
    verify(
        signed,
        authorization,
        secret=key.secret_access_key,
        region=settings.MARKETPLACE_REGION,
        service=settings.MARKETPLACE_SIGNING_NAME,
        at=real_now,
    )
    return key.requester


def _answer(
    operation: str, requester: Requester, body: bytes, *, own_url: str, lag: timedelta | None
) -> dict[str, Any]:
    registered = OPERATIONS[operation]
    parameters = protocol.read_parameters(operation, body)
    with transaction.atomic() if registered.writes else nullcontext():
        if registered.writes:  # one write at a time for each requester: tokens and money are checked, then used
            requester = Requester.objects.select_for_update().get(pk=requester.pk)
        now = clock.now()
        call = Call(
            operation=operation,
            requester=requester,
            parameters=parameters,
            now=now,
            listed_until=None if lag is None else now - lag,
            site_url=own_url,
        )
        return protocol.render(operation, registered.function(call) or {})


def _json(body: dict[str, Any], status: int = 200) -> HttpResponse:
    response = HttpResponse(json.dumps(body), status=status, content_type=_CONTENT_TYPE)
    response["x-amzn-RequestId"] = str(uuid.uuid4())
    return response


def _refusal(kind: str, message: str, turk_error_code: str, *, status: int, at: datetime) -> HttpResponse:
    """As the real service writes it: the sentence ends with the time in milliseconds."""
    stamped = f"{message} ({int(at.timestamp() * 1000)})"
    return _json({"__type": kind, "Message": stamped, "TurkErrorCode": turk_error_code}, status=status)


def _lag(fault: Fault | None) -> timedelta | None:
    return timedelta(seconds=fault.seconds) if fault is not None and fault.kind is FaultKind.STALE else None


def _fault_before(fault: Fault | None) -> HttpResponse | None:
    match fault.kind if fault else None:
        case FaultKind.THROTTLE:
            return _json({"__type": "ThrottlingException", "message": "Rate exceeded"}, status=400)
        case FaultKind.SERVICE_FAULT:
            return _refusal("ServiceFault", "Service fault.", "AWS.ServiceFault", status=500, at=timezone.now())
        case FaultKind.REFUSED:
            err = InvalidParameterValue()
            return _refusal("RequestError", err.message, err.turk_error_code, status=400, at=timezone.now())
        case FaultKind.EXPIRED_KEY:
            return _json(
                {
                    "__type": "ExpiredTokenException",
                    "message": "The security token included in the request is expired",
                },
                status=400,
            )
        case FaultKind.DROP_BEFORE:
            return cut_connection(HttpResponse())
    return None
