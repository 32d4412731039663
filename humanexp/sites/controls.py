"""What the marketplace and the panel share: faults on demand, for this machine's callers, and connections cut short."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from waitress.channel import ClientDisconnected

from humanexp.addresses import is_from_this_machine


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

    def waiting(self) -> list[Fault]:
        with self._lock:
            return list(self._waiting)

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


def from_this_machine(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Other callers find nothing."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not is_from_this_machine(request):
            raise Http404
        return view(request, *args, **kwargs)

    return guarded
