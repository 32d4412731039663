"""A PostgreSQL server of a test's own, in a folder of its own, on a free port of this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _program(name: str) -> str:
    found = shutil.which(name) or next(iter(map(str, sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")))), None)
    if found is None:
        pytest.skip(f"PostgreSQL's {name} is not installed")
    return found


@contextmanager
def running() -> Iterator[str]:
    """The DATABASE_URL of a fresh server. PostgreSQL refuses to run as root, so root lends it to another user."""
    user = _unprivileged() if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # noqa: S108  a socket's path has to be short
    if user is not None:
        shutil.chown(folder, user)
    files = folder / "files"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "user": user, "cwd": folder}
    try:
        subprocess.run([_program("initdb"), "-D", files, "-U", "lab", "-A", "trust", "--no-sync"], check=True, **quiet)
        port = _free_port()
        options = ["-h", "127.0.0.1", "-p", str(port), "-k", folder, "-c", "fsync=off"]
        server = subprocess.Popen([_program("postgres"), "-D", files, *options], **quiet)
        try:
            _wait(port)
            yield f"postgres://lab@127.0.0.1:{port}/postgres"
        finally:
            server.send_signal(signal.SIGQUIT)
            server.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(port: int) -> None:
    end = time.monotonic() + 30
    while subprocess.run(
        [_program("pg_isready"), "-h", "127.0.0.1", "-p", str(port), "-U", "lab"],
        stdout=subprocess.DEVNULL,
        check=False,
    ).returncode:
        if time.monotonic() > end:
            raise RuntimeError("PostgreSQL did not start")
        time.sleep(0.1)


def _unprivileged() -> str:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    pytest.skip("PostgreSQL cannot run as root, and there is no other user")
