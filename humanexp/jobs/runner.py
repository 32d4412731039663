"""Runs jobs: claims one, keeps its lease alive from a second thread, and ends it in exactly one state."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import traceback
import uuid
from collections.abc import Callable
from functools import partial

from django.db import DatabaseError, connection, connections

from analysis.errors import AnalysisError
from humanexp.core.errors import ApplicationError, JobCancelled
from humanexp.jobs import heartbeat, services
from humanexp.jobs.heartbeat import Pulse
from humanexp.jobs.models import Job
from humanexp.jobs.pace import RecentRate
from humanexp.jobs.registry import kinds_in_lane, registered

logger = logging.getLogger(__name__)
HEARTBEAT_S = 5.0


class StoredProgress:
    """Writes progress to the job's row, at most once a second, and hears cancellation there."""

    def __init__(self, job: Job, runner: str) -> None:
        self.job, self.runner, self._written_at = job, runner, 0.0
        self._rate = RecentRate()

    def __call__(self, done: int, total: int, message: str = "") -> None:
        now = time.monotonic()
        if done < total and now - self._written_at < 1.0:
            return
        self._written_at = now
        rate = self._rate.after(done, now)
        if not services.report(job=self.job, runner=self.runner, done=done, total=total, message=message, rate=rate):
            raise JobCancelled


def runner_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def run_one(job: Job, runner: str, *, alive: Callable[[], object] = lambda: None) -> None:
    """Run a claimed job to its end; every outcome is stored, none is raised. `alive` is called while it runs."""
    stop = threading.Event()
    heart = threading.Thread(target=_beat, args=(job, runner, stop, alive), daemon=True)
    heart.start()
    try:
        result = registered(job.kind).run(StoredProgress(job, runner), **job.parameters)
        services.finish(job=job, runner=runner, result=result or {})
    except JobCancelled:
        services.stopped(job=job, runner=runner)
    except (ApplicationError, AnalysisError) as error:  # a refusal: trying again would refuse again
        services.fail(job=job, runner=runner, error=str(error), retry=False)
    except Exception:  # noqa: BLE001  the job runner is one of the two boundaries
        logger.exception("job %s failed", job)
        services.fail(job=job, runner=runner, error=traceback.format_exc(limit=-6), retry=True)
    finally:
        stop.set()
        heart.join()


def run_waiting(*, kinds: list[str] | None = None) -> int:
    """Run every job that waits now, in this process; used by commands that cannot go on without the result."""
    runner, count = runner_name(), 0
    while (job := services.claim(runner=runner, kinds=kinds)) is not None:
        run_one(job, runner)
        count += 1
    return count


def run_to_the_end(job: Job, *, tell: Callable[[str], object]) -> Job:
    """Run a job in this process, or wait for the runner that has it; returns it finished, in whatever state."""
    is_told = False
    while True:
        run_waiting(kinds=[job.kind])
        job.refresh_from_db()
        if job.is_finished:
            return job
        if not is_told:
            tell("another runner has this job, or it will be tried again shortly; waiting")
            is_told = True
        time.sleep(0.5)
        services.sweep()


def run_forever(stop: threading.Event, *, poll_s: float = 0.5) -> None:
    """Run jobs in two lanes until told to stop: long work in one; in the other what nobody should wait for.

    A stop of all HITs, or a payment, does not stand behind an hour of pictures.
    """
    name, pulse, ended = runner_name(), Pulse(), threading.Event()
    heart = threading.Thread(target=heartbeat.keep, args=(name, pulse, ended), daemon=True)
    beside = threading.Thread(target=_prompt_lane, args=(name, pulse, stop, poll_s), daemon=True)
    heart.start()
    beside.start()
    try:
        _lane(name, pulse, stop, poll_s, is_prompt=False)
    finally:
        stop.set()
        beside.join()
        ended.set()
        heart.join()


def _prompt_lane(name: str, pulse: Pulse, stop: threading.Event, poll_s: float) -> None:
    try:
        _lane(name, pulse, stop, poll_s, is_prompt=True)
    finally:
        stop.set()  # a runner with one lane is none: who started it hears that it has ended
        connections.close_all()


def _lane(name: str, pulse: Pulse, stop: threading.Event, poll_s: float, *, is_prompt: bool) -> None:
    runner, swept_at = f"{name}:{'prompt' if is_prompt else 'long'}", 0.0
    while not stop.is_set():
        if is_prompt and time.monotonic() - swept_at > 2.0:  # this lane is never busy for long
            services.sweep()
            services.schedule_periodic()
            swept_at = time.monotonic()
        job = services.claim(runner=runner, kinds=kinds_in_lane(is_prompt=is_prompt))
        pulse.beat(is_prompt=is_prompt)
        if job is None:
            stop.wait(poll_s)
        else:
            run_one(job, runner, alive=partial(pulse.beat, is_prompt=is_prompt))


def _beat(job: Job, runner: str, stop: threading.Event, alive: Callable[[], object]) -> None:
    try:
        while not stop.wait(HEARTBEAT_S):
            try:
                services.renew(job=job, runner=runner)
                alive()
            except DatabaseError:  # one missed beat is no end: the lease outlasts several
                logger.warning("the lease of job %s could not be renewed; trying again", job.pk, exc_info=True)
                connection.close()
    finally:
        connections.close_all()
