"""Rates of calls, counted in the memory of one process: a limit of N allows N for each web process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock

from humanexp.core import clock


class Allowance:
    """A bucket of calls for every key, filled at a steady rate."""

    def __init__(self, *, per_s: float, burst: int, keys: int = 10_000) -> None:
        self.per_s, self.burst, self._keys = per_s, burst, keys
        #: what was left of the bucket, and when
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

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

    def give_back(self, key: Hashable) -> None:
        """Undo the last call: it was none of those that are limited."""
        with self._lock:
            if key in self._buckets:
                left, then = self._buckets[key]
                self._buckets[key] = (min(float(self.burst), left + 1), then)

    def clear(self) -> None:
        with self._lock:
            self._buckets.clear()
