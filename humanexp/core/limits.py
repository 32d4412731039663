"""Who calls, as far as it may be kept, and rates of calls: in the memory of one process, or in that of all of them."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Hashable
from datetime import date
from hashlib import sha256
from threading import Lock
from weakref import WeakSet

from django.conf import settings
from django.http import HttpRequest

from humanexp.addresses import caller_behind
from humanexp.common_memory import DAY, MEMORY, RATES, RATES_AT, SALT, in_turn
from humanexp.core import clock
from humanexp.core.names import pseudonym


def caller_of(request: HttpRequest) -> str:
    """The same for the same address on the same day at one server; otherwise nobody can tell."""
    return pseudonym(_salt_of(clock.now().date()), caller_behind(_address(request)), prefix="A")


def _address(request: HttpRequest) -> str:
    """The address that the server saw; behind trusted proxies (TRUST_PROXY_HEADER), the one that the first of them saw.

    Each proxy appends whom it saw: of N proxies in a row (TRUSTED_PROXIES), the N-th address from the end is the first
    one's. Whatever stands before it was written by the caller, and is not believed.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    if getattr(settings, "SECURE_PROXY_SSL_HEADER", None):
        seen = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")[-settings.TRUSTED_PROXIES :]
        return seen[0].strip() or address
    return address


def _salt_of(today: date) -> str:
    """In memory alone: when the day or the server is over, nobody can try addresses against the hashes that were kept.

    Processes that begin a day together agree within the moment: each reads what was written last.
    """
    day = today.toordinal().to_bytes(8, "big")
    if MEMORY[DAY] != day:
        MEMORY[SALT] = secrets.token_bytes(32)
        MEMORY[DAY] = day
    return MEMORY[SALT].hex()


#: Hashes of keys in the memory of all web processes, and when the bucket of each is full again.
_HASHES = memoryview(MEMORY)[RATES_AT : RATES_AT + 8 * RATES].cast("Q")
_FULL_AT = memoryview(MEMORY)[RATES_AT + 8 * RATES : RATES_AT + 16 * RATES].cast("d")
#: Places in which a key may stand; whichever of them is full, or soonest full, makes room for another key.
_PROBES = 8


#: Every allowance of this process.
_ALLOWANCES: WeakSet[Allowance | SharedAllowance] = WeakSet()


def clear_all() -> None:
    """What has been called until now counts against no one."""
    for allowance in _ALLOWANCES:
        allowance.clear()


class Allowance:
    """A bucket of calls for every key, filled at a steady rate."""

    def __init__(self, *, per_s: float, burst: int, keys: int = 10_000) -> None:
        self.per_s, self.burst, self._keys = per_s, burst, keys
        #: what was left of the bucket, and when
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._lock = Lock()
        _ALLOWANCES.add(self)

    def spend(self, key: Hashable) -> float:
        """Take one call; 0.0 if there was one, else the seconds until there is."""
        now = clock.monotonic_s()
        with self._lock:
            left, then = self._buckets.pop(key, (float(self.burst), now))
            left = min(float(self.burst), left + (now - then) * self.per_s)
            granted = left >= 1
            self._buckets[key] = (left - 1 if granted else left, now)
            while len(self._buckets) > self._keys:
                self._buckets.popitem(last=False)
        return 0.0 if granted else (1 - left) / self.per_s

    def clear(self) -> None:
        with self._lock:
            self._buckets.clear()


class SharedAllowance:
    """The same for all web processes of a server together; `name` keeps its keys apart from those of others.

    A bucket is kept as the moment at which it is full, by the clock that all processes of a machine share.
    """

    def __init__(self, name: str, *, per_s: float, burst: int) -> None:
        self.name, self.per_s, self.burst = name, per_s, burst
        _ALLOWANCES.add(self)

    def spend(self, key: Hashable) -> float:
        """Take one call; 0.0 if there was one, else the seconds until there is."""
        now = clock.monotonic_s()
        with in_turn():
            hashed, place, is_mine = self._place_of(key)
            full_at = max(now, _FULL_AT[place]) if is_mine else now
            left = self.burst - (full_at - now) * self.per_s
            granted = left > 1 - 1e-6  # moments are rounded
            _HASHES[place], _FULL_AT[place] = hashed, full_at + granted / self.per_s
        return 0.0 if granted else (1 - left) / self.per_s

    def give_back(self, key: Hashable) -> None:
        """Undo the last call: it was none of those that are limited."""
        with in_turn():
            _hashed, place, is_mine = self._place_of(key)
            if is_mine:
                _FULL_AT[place] -= 1 / self.per_s

    def _place_of(self, key: Hashable) -> tuple[int, int, bool]:
        """The hash of a key, where it is or would be, and whether it is there."""
        hashed = int.from_bytes(sha256(repr((self.name, key)).encode()).digest()[:8], "big")
        places = [(hashed + step) % RATES for step in range(_PROBES)]
        mine = [place for place in places if _HASHES[place] == hashed]
        return hashed, mine[0] if mine else min(places, key=_FULL_AT.__getitem__), bool(mine)

    def clear(self) -> None:
        with in_turn():
            MEMORY[RATES_AT : RATES_AT + 16 * RATES] = bytes(16 * RATES)
