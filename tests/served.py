"""A site of the product as a real process, for tests of it and of everything that talks to it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

import requests

from humanexp import processes
from tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[1]


def free_port() -> int:
    """At which nothing answers, and that nobody else is given while this process lives.

    A socket stays bound to it. A server may still listen there, and again after it has stopped, as SO_REUSEADDR allows
    while the other socket does not listen; all servers ask for that.
    """
    kept = socket.socket()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind(("127.0.0.1", 0))
    port = int(kept.getsockname()[1])
    kept.detach()
    return port


def answers(url: str) -> bool:
    """Whether a server of the product is ready."""
    with suppress(requests.RequestException):
        return requests.get(f"{url}/healthz", timeout=LIMIT).ok
    return False


class ServedSite:
    """One process with files of its own. `start`, `stop`, `kill`; started again it finds what it had."""

    #: the package under `humanexp`, and what its settings begin with
    site: str
    prefixes: tuple[str, ...]

    def __init__(self, media_root: Path, **environment: str) -> None:
        self.media_root = media_root
        self.url = ""
        self.process: subprocess.Popen[str] | None = None
        self.environment = {
            **{name: value for name, value in os.environ.items() if self.is_inherited(name)},
            "DJANGO_SETTINGS_MODULE": f"humanexp.sites.{self.site}.settings",
            "MEDIA_ROOT": str(media_root),
            **environment,
        }

    def is_inherited(self, name: str) -> bool:
        return not name.startswith(self.prefixes)

    def start(self, port: int = 0, host: str = "127.0.0.1") -> Self:
        """Wait until it answers; `url` is where."""
        self.process = self._run("serve", "--host", host, "--port", str(port))
        watch = threading.Timer(LIMIT, self.process.kill)
        watch.start()
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        watch.cancel()
        if not line.startswith(f"{self.site} ready at "):
            rest = self.process.stdout.read()
            self.process.wait(LIMIT)
            self.process.stdout.close()
            raise RuntimeError(f"The {self.site} did not start: {line}{rest}")
        self.url = line.removeprefix(f"{self.site} ready at ").strip().replace("127.0.0.1", "localhost")
        # What it says later (a traceback) is kept, and never fills the pipe.
        self.output: list[str] = []
        self._reader = threading.Thread(target=self.output.extend, args=(self.process.stdout,), daemon=True)
        self._reader.start()
        return self

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """As a power cut ends it: SIGKILL, no last word."""
        self._end(signal.SIGKILL)

    def _end(self, signal_number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(signal_number)
            self.process.wait(LIMIT)
            self._reader.join(LIMIT)
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None

    def _run(self, module: str, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-m", f"humanexp.sites.{self.site}.{module}", *arguments],
            cwd=ROOT,
            env=processes.bound(self.environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
