"""`make run` is one command: Ctrl-C ends the server and the job runner it has started."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 120


def test_ctrl_c_ends_everything_that_make_run_has_started(tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    foreign = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DJANGO_SETTINGS_MODULE", "PYTEST_CURRENT_TEST")
    environment = {name: value for name, value in os.environ.items() if name not in foreign}
    # Tests that a script runs behind itself ignore Ctrl-C, and so would everything that they start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with (tmp_path / "log").open("wb") as log:
        running = subprocess.Popen(
            ["make", "-o", ".venv/product.stamp", "run", f"ARGS={port}"],
            cwd=ROOT,
            env={**environment, "MEDIA_ROOT": str(tmp_path / "media")},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    signal.signal(signal.SIGINT, before)
    told = tmp_path / "log"
    try:
        until = time.monotonic() + WAIT_S
        while not _answers(port):
            assert running.poll() is None and time.monotonic() < until, told.read_text()
            time.sleep(0.2)
        assert _count(running.pid, "run_jobs") > 0
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(WAIT_S) in (0, -signal.SIGINT), told.read_text()
        until = time.monotonic() + WAIT_S
        while _count(running.pid, "") and time.monotonic() < until:
            time.sleep(0.2)
        assert _count(running.pid, "") == 0, "processes are left"
    finally:
        if _count(running.pid, ""):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    assert "Traceback" not in told.read_text()


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _count(group: int, word: str) -> int:
    """Processes of a group whose command line has the word."""
    listed = subprocess.run(["ps", "-eo", "pgid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.strip().partition(" ") for line in listed.splitlines()]
    return sum(int(own) == group and word in command and "defunct" not in command for own, _, command in rows)
