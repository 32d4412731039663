"""What every site shares: its address, whether it is up, and controls for tests (clock, faults, cut connections)."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from pydantic import BaseModel, Field, ValidationError
from waitress.channel import ClientDisconnected

from humanexp import health

#: Up to ten years.
Seconds = Annotated[float, Field(ge=0, le=10 * 365 * 86_400)]
#: By name: what is sent, and what is done with it.
Actions = Mapping[str, tuple[type[BaseModel], Callable[[Any], dict[str, Any]]]]
#: By name: what a GET answers.
Shown = Mapping[str, Callable[[], dict[str, Any]]]


@dataclass(kw_only=True)
class Fault:
    """A fault that waits for a call."""

    operation: str
    kind: str
    times: int = 1
    #: of whatever takes time
    seconds: float = 1.0
    #: Of the calls it could meet, so many it meets; the others pass and use nothing up.
    share: float = 1.0


class WaitingFaults:
    """Faults live in this process's memory, and there are none at first."""

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

    def shown(self) -> dict[str, Any]:
        with self._lock:
            return {"faults": [asdict(fault) for fault in self._waiting]}

    def take(self, meets: Callable[[Fault], bool]) -> Fault | None:
        """The next fault that meets a call, used up by one."""
        if not self._waiting:
            return None
        with self._lock:
            for fault in self._waiting:
                if meets(fault) and (fault.share >= 1 or self._random.random() < fault.share):
                    fault.times -= 1
                    if fault.times <= 0:
                        self._waiting.remove(fault)
                    return fault
        return None


def cut_connection(response: HttpResponse, *, sends: int = 0) -> HttpResponse:
    """Marked for `CutsConnections`: only the first `sends` bytes of the body, or nothing at all, reach the client."""
    response.sends_bytes = sends  # type: ignore[attr-defined]
    return response


class CutsConnections:
    """A WSGI application; waitress closes the socket in the middle of responses that `cut_connection` has marked."""

    def __init__(self, site: Callable[..., Any]) -> None:
        self._site = site

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        response = self._site(environ, start_response)
        sends = getattr(response, "sends_bytes", None)
        if sends is None:
            return response  # type: ignore[no-any-return]
        response.close()
        if not sends:
            raise ClientDisconnected
        return _cut(response.content[:sends])


def _cut(content: bytes) -> Iterator[bytes]:
    yield content
    raise ClientDisconnected


def visible_to(
    may: Callable[[HttpRequest], bool],
) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Other callers find nothing."""

    def guard(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not may(request):
                raise Http404
            return view(request, *args, **kwargs)

        return guarded

    return guard


class Clock(BaseModel):
    advance_seconds: Seconds


class Arm(BaseModel):
    operation: str
    kind: str
    times: Annotated[int, Field(ge=1)] = 1
    seconds: Seconds = 1.0
    share: Annotated[float, Field(gt=0, le=1)] = 1.0


class Clear(BaseModel):
    seed: int = 0


def fault_actions(faults: WaitingFaults, *, kinds: type[StrEnum], operations: Callable[[], Container[str]]) -> Actions:
    """To arm one, and to clear all."""

    def arm(wanted: Arm) -> dict[str, Any]:
        if wanted.operation not in operations():
            raise ValueError(f"{wanted.operation!r} is no call of this site.")
        faults.arm(Fault(**{**wanted.model_dump(), "kind": kinds(wanted.kind)}))
        return faults.shown()

    def clear(wanted: Clear) -> dict[str, Any]:
        faults.clear(wanted.seed)
        return faults.shown()

    return {"faults": (Arm, arm), "clear": (Clear, clear)}


def carry_out(actions: Actions, name: str, sent: Any) -> dict[str, Any]:
    """Raises ValueError for what is not as the action has it."""
    if name not in actions:
        raise Http404
    body, action = actions[name]
    with transaction.atomic():
        return action(body.model_validate(sent))


def by_json(request: HttpRequest, name: str, *, actions: Actions, shown: Shown) -> HttpResponse:
    """Pages of other sites cannot send this type without being asked about it first, so it needs no other token."""
    if request.method == "GET":
        if name not in shown:
            raise Http404
        return JsonResponse(shown[name]())
    if request.content_type != "application/json":
        return JsonResponse({"detail": "JSON is needed."}, status=415)
    try:
        return JsonResponse(carry_out(actions, name, json.loads(request.body)))
    except ValidationError as err:
        return JsonResponse({"detail": sentences(err)}, status=400)
    except ValueError as err:
        return JsonResponse({"detail": str(err)}, status=400)


def sentences(err: ValidationError) -> dict[str, list[str]]:
    """What is wrong, by field."""
    found: dict[str, list[str]] = {}
    for one in err.errors():
        found.setdefault(str(one["loc"][0]) if one["loc"] else "non_field_errors", []).append(one["msg"])
    return found


@require_safe
def healthz(request: HttpRequest, service: str) -> HttpResponse:
    """Up, and the database answers."""
    return health.answer(service=service)


def site_url(request: HttpRequest) -> str:
    """As people, frames and clients see it; no slash at the end."""
    return settings.SITE_URL or f"{request.scheme}://{request.get_host()}"
