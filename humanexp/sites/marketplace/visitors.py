"""What a request says of its caller: from where, as whom, asking for which answer; and how often it guessed wrong."""

from __future__ import annotations

import threading
import time
from collections import deque

from django.conf import settings
from django.http import HttpRequest

from humanexp.addresses import caller_behind
from humanexp.sites.marketplace.models.accounts import Worker

_PER_NAME, _PER_ADDRESS = 10, 100
_SECONDS = 900.0
_MOST_KEYS = 10_000


def address_of(request: HttpRequest) -> str:
    """Who calls: behind a proxy that is trusted, the last address of X-Forwarded-For, which is the one it saw.

    A network of IPv6 is one caller's: it counts as one.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    if getattr(settings, "SECURE_PROXY_SSL_HEADER", None):
        address = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).rpartition(",")[2].strip() or address
    return caller_behind(address)


def wants_json(request: HttpRequest) -> bool:
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def worker_of(request: HttpRequest) -> Worker | None:
    """Whoever is signed in, if it is a worker."""
    user = getattr(request, "user", None)  # a request that is refused early has none
    return getattr(user, "worker", None)


class _Guesses:
    """Wrong passwords are counted, by name and by address, in this process's memory."""

    def __init__(self) -> None:
        self._failures: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def too_many(self, name: str, address: str) -> bool:
        return self._count(f"name {name}") >= _PER_NAME or self._count(f"address {address}") >= _PER_ADDRESS

    def failed(self, name: str, address: str) -> None:
        with self._lock:
            if len(self._failures) > _MOST_KEYS:
                self._failures.clear()
            for key in (f"name {name}", f"address {address}"):
                self._failures.setdefault(key, deque(maxlen=_PER_ADDRESS)).append(time.monotonic())

    def succeeded(self, name: str) -> None:
        with self._lock:
            self._failures.pop(f"name {name}", None)

    def _count(self, key: str) -> int:
        since = time.monotonic() - _SECONDS
        with self._lock:
            return sum(at > since for at in self._failures.get(key, ()))


GUESSES = _Guesses()
