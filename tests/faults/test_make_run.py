"""`make run` is one command: Ctrl-C ends the server and the job runner it has started."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.limits import LIMIT, until
from tests.served import answers, free_port

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]


def test_ctrl_c_ends_everything_that_make_run_has_started(tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    port = free_port()
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
        url = f"http://127.0.0.1:{port}"
        until(lambda: running.poll() is not None or answers(url), lambda: f"it answers: {told.read_text()}")
        assert running.poll() is None, told.read_text()
        assert _count(running.pid, "run_jobs") > 0
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(LIMIT) in (0, -signal.SIGINT), told.read_text()
        until(lambda: _count(running.pid, "") == 0, "no process is left", every_s=0.2)
    finally:
        if _count(running.pid, ""):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    assert "Traceback" not in told.read_text()


def _count(group: int, word: str) -> int:
    """Processes of a group whose command line has the word."""
    listed = subprocess.run(["ps", "-eo", "pgid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.strip().partition(" ") for line in listed.splitlines()]
    return sum(int(own) == group and word in command and "defunct" not in command for own, _, command in rows)
