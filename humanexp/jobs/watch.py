"""Whether runners live: their sign of life, the jobs of dead ones, and what monitors are told of both."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from django.db import connection, connections
from django.db.models import Count, Max, Min, Q
from django.db.utils import Error as AnyDatabaseError
from django.urls import reverse

from humanexp.core import clock
from humanexp.core.metrics import Figure
from humanexp.core.problems import Problem, bad
from humanexp.jobs import selectors, services as jobs
from humanexp.jobs.models import PERIODIC, Job, JobState, Runner
from humanexp.jobs.selectors import silence

logger = logging.getLogger(__name__)
BEAT_S = 10.0
#: A runner that has been silent for this long will not come back: its row goes.
FORGOTTEN_AFTER = timedelta(days=1)


class Pulse:
    """When each lane last went round, by this process's own clock."""

    def __init__(self) -> None:
        self._at: dict[bool, float] = {}

    def beat(self, *, is_prompt: bool) -> None:
        self._at[is_prompt] = time.monotonic()

    def is_beating(self, *, is_prompt: bool) -> bool:
        """Whether the lane went round, or its job renewed its lease, since the beat before the last."""
        at = self._at.get(is_prompt)
        return at is not None and time.monotonic() - at < 2 * BEAT_S


def write(name: str, pulse: Pulse) -> None:
    """Say that the runner lives, and which of its lanes; the newest row speaks for those that have gone."""
    now = clock.now()
    lanes = {
        field: now
        for field, is_prompt in (("prompt_at", True), ("long_at", False))
        if pulse.is_beating(is_prompt=is_prompt)
    }
    Runner.objects.update_or_create(
        name=name, defaults={"beat_at": now, **lanes}, create_defaults={"started_at": now, "beat_at": now, **lanes}
    )
    Runner.objects.filter(beat_at__lt=now - FORGOTTEN_AFTER).exclude(name=name).delete()


def keep(name: str, pulse: Pulse, stop: threading.Event) -> None:
    """Beat until told to stop, whatever the database says meanwhile."""
    is_heard, pause_s = True, min(1.0, BEAT_S)  # the lanes of a new runner are heard of soon
    try:
        while not stop.is_set():
            try:
                write(name, pulse)
                if not is_heard:
                    logger.warning("the heartbeat is written again")
                is_heard, pause_s = True, min(1.0, BEAT_S)  # the lanes of a new runner are heard of soon
            except AnyDatabaseError as error:
                if is_heard:
                    logger.warning("the heartbeat could not be written, tried again until it can: %s", error)
                is_heard = False
                connection.close()
            stop.wait(pause_s)
            pause_s = BEAT_S
    finally:
        connections.close_all()


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
            enough_s = self._watched_s if until is None or until < wall else jobs.LEASE.total_seconds()
            if at - since >= enough_s:
                lost += jobs.take_back(pk=pk, runner=mark[0], lease_until=until)
        self._seen = seen
        return lost


def runner_problem() -> Problem | None:
    """Of `/readyz`: without a runner, no one is paid and nothing is computed."""
    found = silence()
    if found is None:
        return None
    return bad(
        "The job runner is silent: no one is paid." if found.nobody_is_paid else "The job runner takes no long jobs.",
        "Start it on the server: python manage.py run_jobs. Its log says what ended it.",
        url=reverse("jobs:jobs"),
        button="Jobs",
        notice="The job runner is silent.",
    )


def figures() -> Iterator[Figure]:
    now = clock.now()
    waiting = Q(state=JobState.QUEUED) & (Q(run_after=None) | Q(run_after__lte=now))
    asked = Job.objects.exclude(subject=PERIODIC).filter(state__in=[JobState.QUEUED, JobState.RUNNING])
    counts = asked.aggregate(
        queued=Count("pk", filter=waiting),
        running=Count("pk", filter=Q(state=JobState.RUNNING)),
        since=Min("created_at", filter=waiting),
    )
    for state in ("queued", "running"):
        labels = {"state": state}
        yield Figure(name="humanexp_jobs", about="Jobs by state.", value=counts[state], labels=labels)
    waits_s = (now - counts["since"]).total_seconds() if counts["since"] else 0.0
    yield Figure(name="humanexp_job_oldest_wait_seconds", about="How long the oldest queued job waits.", value=waits_s)
    for lane, field in (("prompt", "prompt_at"), ("long", "long_at")):
        heard = Runner.objects.aggregate(last=Max(field))["last"]
        if heard is not None:
            yield Figure(
                name="humanexp_runner_silence_seconds",
                about="Since when no runner has taken up work of this lane; absent where none ever has.",
                value=(now - heard).total_seconds(),
                labels={"lane": lane},
            )
