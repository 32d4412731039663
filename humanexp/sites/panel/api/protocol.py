"""The operations that the panel serves, and what every call has in common; whatever they do not name is refused.

Written by hand after the interface of July 2026. What the service has and the panel does not is left out: a client that
sends it is told so, and does not go on in the belief that it was heeded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from pydantic import BaseModel, ValidationError

from humanexp.sites.controls import sentences, site_url
from humanexp.sites.panel.api.bodies import (
    Bonuses,
    BulkApproval,
    BulkMessage,
    Clone,
    Confirmation,
    CostQuestion,
    Filtered,
    NewGroup,
    NewMessage,
    NewProject,
    NewSubscription,
    OfWorkspace,
    People,
    ReturnRequest,
    StudyAction,
    StudyTerms,
    SubmissionAction,
    SubscriptionChange,
)
from humanexp.sites.panel.errors import Refused, Shape
from humanexp.sites.panel.models import Researcher, Switches, now as panel_now
from humanexp.sites.panel.progress import catch_up
from humanexp.sites.panel.wallet import wallet

#: What is wrong with a value of a query; empty: nothing.
Check = Callable[[str], str]


def text(value: str) -> str:
    return "" if value else "This parameter may not be blank."


def whole(value: str) -> str:
    return "" if value.isdecimal() and int(value) else "A valid integer of at least 1 is required."


def offset(value: str) -> str:
    return "" if value.isdecimal() else "A valid integer is required."


def one_of(*words: str) -> Check:
    return lambda value: "" if value in words else f"{value!r} is not a valid choice."


def any_case_of(*words: str) -> Check:
    return lambda value: one_of(*words)(value.upper())


def ordering(*fields: str) -> Check:
    return one_of(*fields, *(f"-{name}" for name in fields))


def states(value: str) -> str:
    """One word, or `(ACTIVE|PAUSED)`."""
    wrong = [one for one in value.strip("()").upper().replace("_", " ").split("|") if one not in STUDY_STATES]
    return f"{', '.join(wrong)} is not a valid choice." if wrong else ""


STUDY_STATES = frozenset(
    {"ACTIVE", "AWAITING REVIEW", "COMPLETED", "PAUSED", "PUBLISHING", "SCHEDULED", "UNKNOWN", "UNPUBLISHED"}
)
_BOOLEAN = one_of("true", "false")
_BY_PAGE: Mapping[str, Check] = {"page": whole, "page_size": whole}
#: Named for one list alone; the service's own client reads the others in this way, too.
_BY_OFFSET: Mapping[str, Check] = {"limit": whole, "offset": offset}


@dataclass(frozen=True, kw_only=True)
class Operation:
    query: Mapping[str, Check] = field(default_factory=dict)
    #: of the query
    needs: frozenset[str] = frozenset()
    body: type[BaseModel] | None = None
    #: the body names what changes, and the rest of it stays as it is
    is_change: bool = False

    def check_query(self, sent: Mapping[str, str]) -> None:
        wrong = {name: "This call has no such parameter here." for name in sent if name not in self.query}
        wrong |= {name: why for name, value in sent.items() if name in self.query and (why := self.query[name](value))}
        wrong |= {name: "This parameter is required." for name in self.needs if name not in sent}
        _refuse(wrong)

    def check_names(self, sent: Mapping[str, object]) -> None:
        """Of the body."""
        known = self.body.model_fields if self.body is not None else {}
        _refuse({name: "This call has no such field here." for name in sent if name not in known})


def _refuse(wrong: Mapping[str, str]) -> None:
    if wrong:
        raise Refused(400, "Validation error", {name: [why] for name, why in wrong.items()}, code=140_100)


#: By the name of the path (`urls.API`) and the method.
SPECIFICATION: Mapping[str, Operation] = {
    "me.GET": Operation(),
    "workspaces.GET": Operation(query=_BY_OFFSET),
    "balance.GET": Operation(),
    "projects.GET": Operation(query=_BY_OFFSET),
    "projects.POST": Operation(body=NewProject),
    "studies-of-project.GET": Operation(query={**_BY_PAGE, "ordering": ordering("date_created")}),
    "studies.GET": Operation(query={**_BY_OFFSET, "state": states}),
    "studies.POST": Operation(body=StudyTerms),
    "study.GET": Operation(),
    "study.PATCH": Operation(body=StudyTerms, is_change=True),
    "study.DELETE": Operation(),
    "study-transition.POST": Operation(body=StudyAction),
    "clone.POST": Operation(body=Clone),
    "cost.GET": Operation(query={"is_projected": _BOOLEAN}),
    "submissions-of-study.GET": Operation(
        query={
            **_BY_OFFSET,
            "ordering": ordering(
                "started_at", "completed_at", "status", "ip", "time_taken", "participant_id", "study_code"
            ),
        }
    ),
    "counts.GET": Operation(),
    "cost-calculator.POST": Operation(body=CostQuestion),
    "recommendations.GET": Operation(
        query={"workspace_id": text, "currency": one_of("GBP", "USD")}, needs=frozenset({"workspace_id", "currency"})
    ),
    "filters.GET": Operation(query={"workspace_id": text}),
    "eligibility.POST": Operation(body=Filtered),
    "groups.GET": Operation(
        query={**_BY_OFFSET, "workspace_id": text, "active": _BOOLEAN}, needs=frozenset({"workspace_id"})
    ),
    "groups.POST": Operation(body=NewGroup),
    "members.GET": Operation(),
    "members.POST": Operation(body=People),
    "members.DELETE": Operation(body=People),
    "submissions.GET": Operation(
        query={
            **_BY_PAGE,
            "study": text,
            "status": any_case_of(
                "ACTIVE",
                "APPROVED",
                "AWAITING_REVIEW",
                "PARTIALLY_APPROVED",
                "REJECTED",
                "RETURNED",
                "SCREENED_OUT",
                "TIMED-OUT",
                "UNKNOWN",
            ),
            "ordering": ordering("started_at", "submission_reward", "study_name"),
        },
        needs=frozenset({"study"}),
    ),
    "submission.GET": Operation(),
    "submission-transition.POST": Operation(body=SubmissionAction),
    "request-return.POST": Operation(body=ReturnRequest),
    "bulk-approve.POST": Operation(body=BulkApproval),
    "bonus-plans.POST": Operation(body=Bonuses),
    "bonus-payment.POST": Operation(),
    "messages.GET": Operation(query={"user_id": text, "created_after": text}),
    "messages.POST": Operation(body=NewMessage),
    "bulk-messages.POST": Operation(body=BulkMessage),
    "unread.GET": Operation(),
    "event-types.GET": Operation(),
    "secrets.GET": Operation(query={"workspace_id": text}, needs=frozenset({"workspace_id"})),
    "secrets.POST": Operation(body=OfWorkspace),
    "subscriptions.GET": Operation(query={**_BY_OFFSET, "workspace_id": text, "is_enabled": _BOOLEAN}),
    "subscriptions.POST": Operation(body=NewSubscription),
    "subscription.GET": Operation(),
    "subscription.POST": Operation(body=Confirmation),
    "subscription.PATCH": Operation(body=SubscriptionChange),
    "subscription.DELETE": Operation(),
    "events.GET": Operation(query={**_BY_OFFSET, "status": text, "resource_id": text}),
}


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
