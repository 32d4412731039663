"""The processes of one machine: web, job runner and our own site; started together, never restarted, ended together."""

from __future__ import annotations

import contextlib
import json
import math
import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from humanexp import processes
from humanexp.core.errors import ApplicationError, InputRefused
from humanexp.recruiters import registry

#: Between two words about a process that is still starting.
STILL_S = 15.0
#: Of a log, where its process has ended.
_LAST_LINES = 12


class PortTaken(ApplicationError):
    """The port is in use: stop the other program, or use --no-serve, which takes free ports."""


class ProcessDied(ApplicationError):
    """A process of the demo ended by itself."""


@dataclass(frozen=True)
class Addresses:
    """Two sites on purpose: 127.0.0.1 and localhost differ for a browser, so faults of frames and cookies show."""

    web_port: int
    marketplace_port: int
    panel_port: int

    @property
    def web(self) -> str:
        return f"http://127.0.0.1:{self.web_port}"

    @property
    def marketplace(self) -> str:
        return f"http://localhost:{self.marketplace_port}"

    @property
    def panel(self) -> str:
        return f"http://localhost:{self.panel_port}"

    @classmethod
    def fixed(cls, recruiter: str = "marketplace") -> Addresses:
        """The documented ports; those of the platform and of this site have to be free.

        Raises
        ------
        PortTaken
            Naming the port, before any work is done.
        """
        found = cls(8000, 8001, 8002)
        for port in (found.web_port, getattr(found, f"{recruiter}_port")):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError as error:
                    raise PortTaken(
                        f"Port {port} is in use: stop the program that uses it, or add --no-serve to take free ports."
                    ) from error
        return found

    @classmethod
    def free(cls) -> Addresses:
        with contextlib.ExitStack() as stack:
            probes = [stack.enter_context(socket.socket()) for _ in range(3)]
            for probe in probes:
                probe.bind(("127.0.0.1", 0))
            return cls(*(probe.getsockname()[1] for probe in probes))


def command_lines(addresses: Addresses) -> dict[str, list[str]]:
    """What a person would type in three terminals."""
    python = sys.executable
    return {
        "web": [
            python,
            "-m",
            "gunicorn",
            "--config=python:humanexp.serving",
            f"--bind=127.0.0.1:{addresses.web_port}",
            "humanexp.wsgi",
        ],
        "marketplace": [python, "-m", "humanexp", "marketplace", "--port", str(addresses.marketplace_port)],
        "panel": [python, "-m", "humanexp", "panel", "--port", str(addresses.panel_port)],
        "run_jobs": [python, "-m", "humanexp", "run_jobs"],
    }


def environment(addresses: Addresses, extra: Mapping[str, str]) -> dict[str, str]:
    return {
        **os.environ,
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
        "PUBLIC_URL": addresses.web,
        "MARKETPLACE_URL": addresses.marketplace,
        "PANEL_URL": addresses.panel,
        **extra,
    }


@contextlib.contextmanager
def started(name: str, addresses: Addresses, extra: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the product for the time of the block; its output goes to MEDIA_ROOT/logs/<name>.log."""
    process = begin(name, command_lines(addresses)[name], environment(addresses, extra))
    try:
        yield process
    finally:
        end(process)


def begin(name: str, command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """A process that ends when this one does; its output goes to MEDIA_ROOT/logs/<name>.log."""
    log = _log(name)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as stream:
        return subprocess.Popen(  # noqa: S603  (our own command lines)
            command,
            env=processes.bound(environment),
            cwd=settings.BASE_DIR,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def account_keys(recruiter: str, addresses: Addresses) -> dict[str, str]:
    """Keys of an account on one of our own sites, as settings; the account is made when it is not there."""
    kind = registry.kind_of(recruiter)
    if kind.own_site is None:
        raise InputRefused(f"{recruiter} is no site of this distribution.")
    return kind.keys_from(account_made(kind.own_site.account_maker, "demo", environment(addresses, {})))


def account_made(maker: str, name: str, environment: Mapping[str, str]) -> dict[str, str]:
    """What a site's own module prints about the account of this name, which it makes when it is not there."""
    reply = subprocess.run(  # noqa: S603
        [sys.executable, "-m", maker, "--name", name, "--balance", "1000"],
        env=dict(environment),
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    if reply.returncode:
        raise ProcessDied(f"{maker} made no account: {reply.stderr.strip()[-300:]}")
    made: dict[str, str] = json.loads(reply.stdout)
    return made


def wait_until_ready(
    name: str,
    process: subprocess.Popen[bytes],
    url: str,
    *,
    tell: Callable[[str], object] = lambda sentence: None,
    patience_s: float = math.inf,
) -> None:
    """Until `url`/healthz answers: as long as the process lives, for a busy machine takes minutes.

    `tell` is told every now and then that it is still starting.

    Raises
    ------
    ProcessDied
        As soon as it has ended, with the end of its log; or when it does not answer within `patience_s`.
    """
    import requests  # 0.1 s, and only who starts a process pays for it

    began = told = time.monotonic()
    while (now := time.monotonic()) - began < patience_s:
        check_alive(name, process)
        with contextlib.suppress(requests.RequestException):
            if requests.get(f"{url}/healthz", timeout=2).ok:
                return
        if now - told >= STILL_S:
            told = now
            tell(f"The {name} process is still starting, after {now - began:.0f} s.")
        time.sleep(0.1)
    raise ProcessDied(f"The {name} process does not answer at {url}: see {_log(name)}.")


def check_alive(name: str, process: subprocess.Popen[bytes]) -> None:
    """Raises ProcessDied, with the end of its log, if it has ended."""
    if process.poll() is not None:
        raise ProcessDied(
            f"The {name} process ended with status {process.returncode}: see {_log(name)}.{_last_lines(name)}"
        )


def _log(name: str) -> Path:
    return Path(settings.MEDIA_ROOT) / "logs" / f"{name}.log"


def _last_lines(name: str) -> str:
    try:
        with _log(name).open(encoding="utf-8", errors="replace") as log:
            lines = deque(log, _LAST_LINES)
    except FileNotFoundError:
        return ""
    return f" It ends:\n{''.join(lines).rstrip()}" if lines else ""
