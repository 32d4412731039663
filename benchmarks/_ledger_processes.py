"""Forked processes that may be killed, their clock, and patience with a busy machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import requests
from django.utils import timezone


class Shifted:
    """The platform's clock, moved with the marketplace's."""

    def __init__(self, seconds: float) -> None:
        self.shift = timedelta(seconds=seconds)

    def now(self) -> datetime:
        return timezone.now() + self.shift


def fork(work: Callable[[], Any]) -> tuple[int, int]:
    """A process of its own for the work; its id, and where its result can be read."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    status = 1
    try:
        os.close(reading)
        with os.fdopen(writing, "w") as stream:
            json.dump(work(), stream)
        status = 0
    except BaseException:  # noqa: BLE001  (the forked process ends here, whatever happens)
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def end_after(seconds: float, lives: list[tuple[int, int]]) -> int:
    """Wait so long, or until all have ended, and kill who is left; how many were."""
    until, left = time.monotonic() + seconds, dict(lives)
    while left and time.monotonic() < until:
        time.sleep(0.02)
        left = {pid: reading for pid, reading in left.items() if not os.waitpid(pid, os.WNOHANG)[0]}
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    for _, reading in lives:
        os.close(reading)
    return len(left)


def finish(pid: int, reading: int) -> Any:
    with os.fdopen(reading) as stream:
        said = stream.read()
    _, status = os.waitpid(pid, 0)
    if status:
        raise RuntimeError(f"A process ended with {status}; it says why above.")
    return json.loads(said)


def patiently(call: Callable[[], Any]) -> Any:
    """A busy machine is no fault, nor is a connection that was closed while nobody used it."""
    for _ in range(30):
        with contextlib.suppress(requests.Timeout, requests.ConnectionError):
            return call()
    return call()


def in_a_process(work: Callable[[], Any]) -> Any:
    return finish(*fork(work))
