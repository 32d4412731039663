"""What a test of the pure ring must not do, heard from the interpreter's audit events while such a test runs.

Nobody answers it, either, whoever listens on this machine.
"""

from __future__ import annotations

import errno
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import Any

import urllib3.util.connection  # noqa: F401  tries a port when it is first imported, which may be in a test

_STARTS = {
    "subprocess.Popen": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.system": "starts a process",
    "os.exec": "starts a process",
    "os.fork": "starts a process",
    "os.forkpty": "starts a process",
    "socket.bind": "opens a port",
    "time.sleep": "sleeps",
}


#: Names that are looked up without asking another machine.
_HERE = (None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104


class NotPure(Exception):
    """Mark it `@pytest.mark.process`, or give it what needs none of this."""


class _Watch:
    """The hook of the interpreter cannot be taken away again, so that it is switched."""

    def __init__(self) -> None:
        self.is_on = False
        self.found: list[str] = []
        sys.addaudithook(self._hear)
        # Python's own pools start their processes without an event.
        start = BaseProcess.start

        def heard(process: BaseProcess) -> None:
            self._hear("subprocess.Popen", ())
            start(process)

        BaseProcess.start = heard
        # Before Python 3.13 this has no event, either.
        sleep = time.sleep

        def heard_sleeping(seconds: float) -> None:
            if seconds:
                self._hear("time.sleep", ())
            sleep(seconds)

        time.sleep = heard_sleeping

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on:
            return
        if event.startswith("socket."):
            if event == "socket.getaddrinfo" and arguments[0] not in _HERE:
                raise socket.gaierror(socket.EAI_NONAME, "a test of the pure ring knows no other machine")
            if event not in ("socket.connect", "socket.bind") or not isinstance(arguments[1], tuple):
                return  # a socket in the file system has no tuple for an address
            if event == "socket.connect":
                raise ConnectionRefusedError(errno.ECONNREFUSED, "nobody answers a test of the pure ring")
        if event not in _STARTS:
            return
        self.found.append(f"{_STARTS[event]} ({event})")
        raise NotPure(f"A test of the pure ring {_STARTS[event]}: {NotPure.__doc__}")


WATCH = _Watch()


@contextmanager
def set_aside() -> Iterator[None]:
    """For what the whole run needs and the first test happens to make: the file of a migrated database."""
    before, WATCH.is_on = WATCH.is_on, False
    try:
        yield
    finally:
        WATCH.is_on = before
