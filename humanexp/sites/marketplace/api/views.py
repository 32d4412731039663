"""The requester API: POST, JSON 1.1, signed."""

from __future__ import annotations

import json
import logging
import uuid
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from humanexp.sites.controls import Fault, cut_connection, site_url
from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.api.protocol import requests, responses, service
from humanexp.sites.marketplace.api.protocol.signature import Authorization, SignedRequest, verify
from humanexp.sites.marketplace.api.registry import OPERATIONS, Call
from humanexp.sites.marketplace.errors import InvalidParameterValue, ProtocolError, RequestError, UnrecognizedClient
from humanexp.sites.marketplace.faults import FaultKind, fault_after, take
from humanexp.sites.marketplace.models.accounts import Requester
from humanexp.sites.marketplace.selectors.accounts import active_key

logger = logging.getLogger(__name__)

_CONTENT_TYPE = "application/x-amz-json-1.1"


@csrf_exempt  # no cookie is looked at: every request carries its own signature
@require_POST
def requester_api(request: HttpRequest) -> HttpResponse:
    """One call of one operation."""
    real_now = timezone.now()
    try:
        requester = _authenticate(request, real_now)
        operation = service.operation_of(request.headers.get("X-Amz-Target", ""))
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
    parameters = requests.read_parameters(operation, body)
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
        return responses.render(operation, registered.function(call) or {})


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
