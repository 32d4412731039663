"""The two lanes of `run_jobs`: they outlast every fault of the database and the disk, and stop when they are told."""

from __future__ import annotations

import logging
import threading
import time
from functools import partial
from typing import Protocol

from django.db import connections

from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import kinds_in_lane
from humanexp.jobs.runner import Backoff, Patience, Pulse, Watch, is_outage, keep, run_one, runner_name

logger = logging.getLogger(__name__)
SWEEP_S = 2.0
#: Told to stop, all has ended within ten seconds: long work hears of it first, and payments go on meanwhile.
LONG_ENDS_S, ALL_ENDS_S, FENCED_S = 7.0, 8.5, 1.0


class Lane:
    """A thread that takes one job after the other: long work, or what nobody should wait for."""

    def __init__(self, name: str, pulse: Pulse, *, is_prompt: bool, poll_s: float) -> None:
        self.runner = f"{name}:{'prompt' if is_prompt else 'long'}"
        self.stop = threading.Event()
        self.job: Job | None = None
        self._is_prompt, self._poll_s = is_prompt, poll_s
        self._alive = partial(pulse.beat, is_prompt=is_prompt)
        self._patience = Patience(self.stop)
        self._watch, self._swept_at = Watch(), float("-inf")
        self.thread = threading.Thread(target=self._run, name=self.runner, daemon=True)

    def _run(self) -> None:
        backoff, trouble = Backoff(), ""
        try:
            while not self.stop.is_set():
                try:
                    is_idle = not self._go_round()
                except Exception as error:  # noqa: BLE001  a lane that ended would stop payments without a word
                    if trouble != (trouble := type(error).__name__):
                        logger.error(
                            "%s cannot go on and tries again: %s", self.runner, error, exc_info=not is_outage(error)
                        )
                    connections.close_all()
                    self.stop.wait(backoff.pause_s())
                    continue
                if trouble:
                    logger.warning("%s goes on", self.runner)
                    trouble = ""
                backoff.reset()
                if is_idle:
                    self.stop.wait(self._poll_s)
        finally:
            connections.close_all()

    def _go_round(self) -> bool:
        """One job, if one waits."""
        # The prompt lane is never busy for long.
        if self._is_prompt and time.monotonic() - self._swept_at > SWEEP_S:
            self._watch.sweep()
            jobs.schedule_periodic()
            self._swept_at = time.monotonic()
        job = jobs.claim(runner=self.runner, kinds=kinds_in_lane(is_prompt=self._is_prompt))
        self._alive()
        if job is None:
            return False
        self.job = job
        run_one(job, self.runner, alive=self._alive, patience=self._patience)
        self.job = None
        return True

    def end(self, until: float) -> bool:
        """Stop taking jobs; whether the present one has ended, or given itself back, by a time of this process."""
        self.stop.set()
        self.thread.join(max(0.0, until - time.monotonic()))
        return not self.thread.is_alive()

    def fence(self) -> None:
        """Give back the job of a lane that does not hear: nothing that it still stores about it counts."""
        if (job := self.job) is None:
            return

        def hand_back() -> None:
            try:
                jobs.hand_back(job=job, runner=self.runner)
            finally:
                connections.close_all()

        # In a thread, too: a database that does not answer must not keep the process.
        writing = threading.Thread(target=hand_back, name="fence", daemon=True)
        writing.start()
        writing.join(FENCED_S)


class Told(Protocol):
    """Whether somebody wants it to end; an event of `threading` is one."""

    def wait(self, timeout: float) -> bool: ...


class ToldBySignal:
    """Set by the handler of a signal, which takes no lock: it may interrupt this very wait, or another handler.

    An event of `threading` would wait there for a lock that the interrupted code holds, for ever.
    """

    def __init__(self) -> None:
        self._is_told = False

    def note(self, *_signal: object) -> None:
        self._is_told = True

    def wait(self, timeout: float) -> bool:
        if not self._is_told:
            time.sleep(timeout)
        return self._is_told


def run_forever(stop: Told, *, poll_s: float = 0.5) -> bool:
    """Run jobs in two lanes until told to stop: long work in one; in the other what nobody should wait for.

    A stop of all HITs, or a payment, does not stand behind an hour of pictures. False when a lane did not hear in time:
    its job is back in the queue, and the process has to end at once.
    """
    name, pulse, ended = runner_name(), Pulse(), threading.Event()
    heart = threading.Thread(target=keep, args=(name, pulse, ended), name="heartbeat", daemon=True)
    prompt, long = (Lane(name, pulse, is_prompt=is_prompt, poll_s=poll_s) for is_prompt in (True, False))
    for thread in (heart, prompt.thread, long.thread):
        thread.start()
    while not stop.wait(0.5) and prompt.thread.is_alive() and long.thread.is_alive():
        pass  # a runner with one lane is none: it ends, and whoever started it sees that
    told_at = time.monotonic()
    has_long_ended = long.end(told_at + LONG_ENDS_S)
    has_prompt_ended = prompt.end(told_at + ALL_ENDS_S)
    for lane, has_ended in ((long, has_long_ended), (prompt, has_prompt_ended)):
        if not has_ended:
            logger.warning("%s does not stop; job %s goes back into the queue", lane.runner, lane.job)
            lane.fence()
    ended.set()
    heart.join(0.5)
    return has_long_ended and has_prompt_ended
