"""Runs jobs: claims one, keeps its lease alive from a second thread, and ends it in exactly one state.

Faults of the place are not faults of the work: a database that is locked, restarted or absent, a disk that is full, a
storage of files that does not answer. Whether runners live, monitors are told: their sign of life, jobs of dead ones.
"""

from __future__ import annotations

import errno
import logging
import os
import random
import socket
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

from django.db import InterfaceError, OperationalError, connection, connections
from django.db.models import Count, Max, Min, Q
from django.db.utils import Error as AnyDatabaseError
from django.urls import reverse

from analysis.errors import AnalysisError, StorageFailed
from humanexp.core import clock, request_ids
from humanexp.core.commands import ProgressLine
from humanexp.core.errors import ApplicationError, FilesAway, JobCancelled, JobError, JobHandedBack
from humanexp.core.metrics import Figure
from humanexp.core.pace import RecentRate
from humanexp.core.problems import Problem, bad
from humanexp.jobs import selectors, services as jobs
from humanexp.jobs.models import PERIODIC, Job, JobState, Runner
from humanexp.jobs.registry import registered
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


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
#: SQLite's primary codes: busy, locked, out of memory, read-only, I/O error, full, cannot open, protocol.
_SQLITE = frozenset({5, 6, 7, 8, 10, 13, 14, 15})
#: PostgreSQL's classes: connection, transaction rolled back, resources (disk full, too many connections), lock not
#: available, operator's intervention (shutdown, starting up), system error.
_POSTGRESQL = ("08", "40", "53", "55", "57", "58")


def is_outage(error: BaseException) -> bool:
    """Whether it will go once database, disk and storage are there again, without a change to the work."""
    if isinstance(error, InterfaceError | StorageFailed | FilesAway):
        return True
    if isinstance(error, OperationalError):
        return _is_of_the_database(error.__cause__)
    return isinstance(error, OSError) and error.errno in _FULL


def _is_of_the_database(error: BaseException | None) -> bool:
    """A missing table is an OperationalError of SQLite, too, and stays missing."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in _SQLITE
    state = getattr(error, "sqlstate", None)
    return state is None or state.startswith(_POSTGRESQL)


class Backoff:
    """Pauses that double from one second to half a minute, each a little different: two runners do not keep step."""

    FIRST_S, MOST_S = 1.0, 30.0

    def __init__(self) -> None:
        self._pause_s = self.FIRST_S

    def pause_s(self) -> float:
        pause_s = self._pause_s * random.uniform(0.8, 1.0)  # noqa: S311
        self._pause_s = min(self.MOST_S, 2 * self._pause_s)
        return pause_s

    def reset(self) -> None:
        self._pause_s = self.FIRST_S


HEARTBEAT_S = 5.0


class Patience:
    """How a lane of `run_jobs` meets faults of the place: it waits. A command has none and ends with the error."""

    def __init__(self, stop: threading.Event) -> None:
        #: set when running jobs are to give themselves back
        self.stop = stop
        self._pauses: dict[int, Backoff] = {}

    def pause_s(self, job: Job) -> float:
        """How long a job waits that met an outage once more."""
        return self._pauses.setdefault(job.pk, Backoff()).pause_s()

    def forget(self, job: Job) -> None:
        self._pauses.pop(job.pk, None)

    def until_stored(self, job: Job, ending: Callable[[], object]) -> None:
        """What became of a job is not lost for want of a database."""
        backoff = Backoff()
        while True:
            try:
                ending()
                return
            except (AnyDatabaseError, OSError) as error:
                if not is_outage(error):
                    raise
                logger.warning("the end of job %s could not be stored, tried again until it can: %s", job, error)
                connection.close()
                time.sleep(backoff.pause_s())


Hear = Callable[[int, int, str], object]


class StoredProgress:
    """Writes progress to the job's row, at most once a second; hears there, or from its lane, that it should end."""

    def __init__(self, job: Job, runner: str, patience: Patience | None = None, hear: Hear | None = None) -> None:
        self.job, self.runner, self.patience, self._written_at = job, runner, patience, 0.0
        self._rate, self._hear = RecentRate(), hear

    def __call__(self, done: int, total: int, message: str = "") -> None:
        if self._hear is not None:
            self._hear(done, total, message)
        if self.patience is not None and self.patience.stop.is_set():
            raise JobHandedBack
        now = time.monotonic()
        if done < total and now - self._written_at < 1.0:
            return
        self._written_at = now
        rate = self._rate.after(done, now)
        try:
            is_ours = jobs.report(job=self.job, runner=self.runner, done=done, total=total, message=message, rate=rate)
        except AnyDatabaseError as error:
            # The work need not stop because its progress cannot be told; in a transaction it is lost anyhow.
            if self.patience is None or connection.in_atomic_block or not is_outage(error):
                raise
            connection.close()
            return
        if not is_ours:
            raise JobCancelled


def runner_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def run_one(
    job: Job,
    runner: str,
    *,
    alive: Callable[[], object] = lambda: None,
    patience: Patience | None = None,
    hear: Hear | None = None,
) -> None:
    """Run a claimed job to its end; every outcome is stored, none is raised.

    `alive` is called while it runs, and `hear` with its progress.
    """
    stop = threading.Event()
    heart = threading.Thread(target=_beat, args=(job, runner, stop, alive), daemon=True)
    heart.start()
    try:
        with request_ids.within(job.request_id):
            ending = _ending(job, runner, patience, hear)
        if patience is None:
            ending()
        else:
            patience.until_stored(job, ending)
    finally:
        stop.set()
        heart.join()


def _ending(job: Job, runner: str, patience: Patience | None, hear: Hear | None) -> Callable[[], object]:
    """Do the work; returns what stores its outcome."""
    try:
        known = registered(job.kind)
        result = known.run(StoredProgress(job, runner, patience, hear), **known.checked(job.parameters))
        ending: Callable[[], object] = partial(jobs.finish, job=job, runner=runner, result=result or {})
    except JobHandedBack:
        return partial(jobs.hand_back, job=job, runner=runner)
    except JobCancelled:
        ending = partial(jobs.stopped, job=job, runner=runner)
    except Exception as error:  # noqa: BLE001  the job runner is one of the two boundaries
        if patience is not None and is_outage(error):
            connections.close_all()
            if not job.error:
                logger.warning("job %s waits for the database or the disk: %s", job, error)
            return partial(jobs.hand_back, job=job, runner=runner, why=str(error), wait_s=patience.pause_s(job))
        if isinstance(error, ApplicationError | AnalysisError):  # a refusal: trying again would refuse again
            ending = partial(jobs.fail, job=job, runner=runner, error=str(error), retry=False)
        else:
            logger.exception("job %s failed", job)
            ending = partial(jobs.fail, job=job, runner=runner, error=traceback.format_exc(limit=-6), retry=True)
    if patience is not None:
        patience.forget(job)
    return ending


def run_waiting(*, kinds: list[str] | None = None, hear: Hear | None = None) -> int:
    """Run every job that waits now, in this process; used by commands that cannot go on without the result."""
    runner, count = runner_name(), 0
    while (job := jobs.claim(runner=runner, kinds=kinds)) is not None:
        run_one(job, runner, hear=hear)
        count += 1
    return count


def run_to_the_end(job: Job, *, tell: Callable[[str], object]) -> Job:
    """Run a job in this process, or wait for the runner that has it; returns it finished, in whatever state.

    How far it is appears on the standard error of the process.
    """
    is_told, watch = False, Watch()
    while True:
        with ProgressLine(sys.stderr) as line:
            run_waiting(kinds=[job.kind], hear=line)
        job.refresh_from_db()
        if job.is_finished:
            return job
        if not is_told:
            tell("another runner has this job, or it will be tried again shortly; waiting")
            is_told = True
        time.sleep(0.5)
        watch.sweep()


def finish(job: Job, *, what: str, tell: Callable[[str], object]) -> None:
    """Run a job to the end; raises JobError, which says what did not finish and why."""
    job = run_to_the_end(job, tell=tell)
    if job.state != JobState.DONE:
        raise JobError(f"{what} did not finish: {(job.error or job.state).strip().splitlines()[-1]}")


def _beat(job: Job, runner: str, stop: threading.Event, alive: Callable[[], object]) -> None:
    try:
        while not stop.wait(HEARTBEAT_S):
            try:
                jobs.renew(job=job, runner=runner)
                alive()
            except AnyDatabaseError:  # one missed beat is no end: the lease outlasts several
                logger.warning("the lease of job %s could not be renewed; trying again", job.pk, exc_info=True)
                connection.close()
    finally:
        connections.close_all()
