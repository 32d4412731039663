"""Finds the jobs of dead runners by this process's own clock: setting the machine's clock takes no job from anybody."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from humanexp.core import clock
from humanexp.jobs import selectors, services

#: A living runner renews its lease within half of this.
WATCHED_S = 12.0
Mark = tuple[str, datetime | None]


class Watch:
    """Takes a job back when its lease has not been renewed for as long as it was watched.

    Over by the machine's clock, it has to be watched for `watched_s`; else for a whole lease: the clock may have been
    set back, or differ from the holder's.
    """

    def __init__(self, *, watched_s: float = WATCHED_S, now: Callable[[], float] = time.monotonic) -> None:
        self._watched_s, self._now = watched_s, now
        self._seen: dict[int, tuple[Mark, float]] = {}
        self._looked_at = now()

    def sweep(self) -> int:
        """Give the jobs of dead runners back to the queue, or end them when their attempts are used up."""
        running, at = selectors.leases(), self._now()
        if at - self._looked_at > WATCHED_S:
            self._seen.clear()  # as long as nobody could look, nobody could renew
        self._looked_at = at
        wall, seen, lost = clock.now(), {}, 0
        for pk, mark in running.items():
            before = self._seen.get(pk)
            since = before[1] if before is not None and before[0] == mark else at
            seen[pk] = mark, since
            until = mark[1]
            enough_s = self._watched_s if until is None or until < wall else services.LEASE.total_seconds()
            if at - since >= enough_s:
                lost += services.take_back(pk=pk, runner=mark[0], lease_until=until)
        self._seen = seen
        return lost
