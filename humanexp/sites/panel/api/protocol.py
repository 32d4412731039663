"""What every call of the API has in common: its token, its body, its transaction, its pages, its refusals."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from pydantic import BaseModel, ValidationError

from humanexp.sites.controls import sentences, site_url
from humanexp.sites.panel.api.specification import SPECIFICATION
from humanexp.sites.panel.errors import Refused, Shape
from humanexp.sites.panel.models.people import Researcher
from humanexp.sites.panel.models.switches import Switches, now as panel_now
from humanexp.sites.panel.services.progress import catch_up
from humanexp.sites.panel.wallets import wallet

Body = TypeVar("Body", bound=BaseModel)
Handler = Callable[..., Any]
PAGE_SIZE = 20
_LARGEST_PAGE = 200


@dataclass(frozen=True)
class Call:
    """A request of a known researcher."""

    request: HttpRequest
    researcher: Researcher
    now: datetime
    #: as its operation has it, checked; of a change, what it names, whose values are checked with the rest
    body: Any

    def query(self, name: str, default: str = "") -> str:
        return self.request.GET.get(name, default)

    def number(self, name: str, default: int) -> int:
        return int(self.query(name) or default)


def read(body: type[Body], sent: dict[str, Any]) -> Body:
    """Refused with a list of sentences for each field that is wrong."""
    try:
        return body.model_validate(sent)
    except ValidationError as err:
        raise refused_fields(err) from err


def refused_fields(err: ValidationError) -> Refused:
    return Refused(400, "Validation error", sentences(err), code=140_100)


def endpoint(*, money: bool = False, shape: Shape | None = None, **handlers: Handler) -> Callable[..., HttpResponse]:
    """One path with a handler for each method; a handler gets the call, and returns JSON or a response.

    A call that moves `money` needs the wallet for itself: another one at the same time is answered with 429.
    """

    def view(request: HttpRequest, **ids: str) -> HttpResponse:
        handler = handlers.get(request.method or "")
        try:
            researcher = _authenticated(request)
            if handler is None:
                raise Refused(405, "Method not allowed", f"{request.method} is not allowed.", shape=Shape.BARE)
            now = panel_now()
            catch_up(now)
            call = Call(request, researcher, now, _checked(request))
            with wallet(call.researcher.researcher_id if money and request.method == "POST" else ""):
                return _answered(call, handler, ids)
        except Refused as err:
            if shape is not None and err.shape is Shape.ERROR:
                err.shape = shape
            return err.response()

    exempt: Callable[..., HttpResponse] = csrf_exempt(view)
    return exempt


def _answered(call: Call, handler: Handler, ids: dict[str, str]) -> HttpResponse:
    # Reads do not queue for the database's one writer.
    with nullcontext() if call.request.method == "GET" else transaction.atomic():
        answer = handler(call, **ids)
    return answer if isinstance(answer, HttpResponse) else JsonResponse(answer, safe=False)


def _authenticated(request: HttpRequest) -> Researcher:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    researcher = Researcher.objects.filter(token=token).first() if scheme == "Token" and token else None
    if researcher is None:
        raise Refused(401, "Unauthorized", "Authentication credentials are missing or wrong.", code=140_101)
    return researcher


def _checked(request: HttpRequest) -> Any:
    """The body, if everything in it and in the query is what the operation has."""
    operation = SPECIFICATION[operation_of(request)]
    operation.check_query(request.GET.dict())
    sent = _json(request)
    operation.check_names(sent)
    return sent if operation.body is None or operation.is_change else read(operation.body, sent)


def operation_of(request: HttpRequest) -> str:
    """By the name of the path and the method: "submissions.GET"."""
    return f"{request.resolver_match.url_name if request.resolver_match else None}.{request.method}"


def _json(request: HttpRequest) -> dict[str, Any]:
    try:
        sent = json.loads(request.body or b"{}")
    except ValueError as err:
        raise Refused(400, "Bad request", "The body is not JSON.", shape=Shape.BARE) from err
    if not isinstance(sent, dict):
        raise Refused(400, "Bad request", "The body is not an object.", shape=Shape.BARE)
    return sent


def numbered_page(call: Call, rows: QuerySet[Any], shown: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """By `page` and `page_size`. A page past the end is not found, even right after a full last page."""
    size = min(call.number("page_size", PAGE_SIZE), _LARGEST_PAGE)
    page = call.number("page", 1)
    count = rows.count()
    last = max(1, -(-count // size))
    if not 1 <= page <= last:
        raise Refused(404, "Not found", "Invalid page.", shape=Shape.BARE)
    links = {
        "self": _link(call, page=page),
        "next": _link(call, page=page + 1) if page < last else _no_link("Next"),
        "previous": _link(call, page=page - 1) if page > 1 else _no_link("Previous"),
        "last": _link(call, page=last),
    }
    results = [shown(row) for row in rows[(page - 1) * size : page * size]]
    return {"results": results, "_links": links, "meta": {"count": count}}


def listed(call: Call, rows: QuerySet[Any] | Sequence[Any], shown: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """By `limit` and `offset`; past the end there is nothing."""
    limit = min(call.number("limit", PAGE_SIZE), _LARGEST_PAGE)
    offset = call.number("offset", 0)
    count = rows.count() if isinstance(rows, QuerySet) else len(rows)
    more = offset + limit < count
    links = {
        "self": _link(call, offset=offset),
        "next": _link(call, offset=offset + limit) if more else _no_link("Next"),
    }
    results = [shown(row) for row in rows[offset : offset + limit]]
    return {"results": results, "_links": links, "meta": {"count": count}}


def _link(call: Call, **changed: int) -> dict[str, str]:
    query = urlencode({**call.request.GET.dict(), **changed})
    return {"href": f"{site_url(call.request)}{call.request.path}?{query}", "title": "Page"}


def _no_link(title: str) -> dict[str, str | None]:
    return {"href": None, "title": title}


def iso(at: datetime | None) -> str | None:
    return None if at is None else f"{at:%Y-%m-%dT%H:%M:%S.%f}Z"


def shown_status(status: str) -> str:
    """The word for PROCESSING is one of the switches: no list of words is complete."""
    return Switches.current().processing_word if status == "PROCESSING" else status


def created(body: dict[str, Any]) -> HttpResponse:
    return JsonResponse(body, status=201)
