"""What another process started ends with it, however that went; who waits for one hears what becomes of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from humanexp import processes
from humanexp.console import sites
from humanexp.console.sites import ProcessDied
from tests.limits import until
from tests.served import ROOT, free_port

#: Starts one child with a variable that says who is to be watched, tells its number, and never ends it.
PARENT = """
import os, subprocess, sys, time
from humanexp import processes
child = subprocess.Popen(sys.argv[1:], env=processes.bound(os.environ))
print(child.pid, flush=True)
time.sleep(600)
"""


def is_running(pid: int) -> bool:
    """A process that has ended, and whom nobody has asked after yet, does not run."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


def descendants(pid: int) -> list[int]:
    """This process and all below it."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found = [pid]
    for one in found:
        found += [child for child, parent in pairs if parent == one]
    return found


@pytest.fixture
def started(tmp_path: Path, migrated_database: Path) -> Iterator[Callable[..., tuple[subprocess.Popen[str], int]]]:
    """Starts a parent with one child, in a folder of their own; nothing of it is left."""
    shutil.copyfile(migrated_database, tmp_path / "humanexp.sqlite3")
    known: list[tuple[subprocess.Popen[str], int]] = []

    def start(*command: str, **more: str) -> tuple[subprocess.Popen[str], int]:
        with (tmp_path / "log").open("w") as log:
            parent = subprocess.Popen(
                [sys.executable, "-c", PARENT, sys.executable, *command],
                cwd=ROOT,
                env={**os.environ, "MEDIA_ROOT": str(tmp_path), "DJANGO_SETTINGS_MODULE": "humanexp.settings", **more},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert parent.stdout is not None
        known.append((parent, int(parent.stdout.readline())))
        return known[-1]

    yield start
    for parent, child in known:
        for pid in {*descendants(parent.pid), *descendants(child)}:
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)
        parent.wait()
        assert parent.stdout is not None
        parent.stdout.close()


COMMANDS = {
    "marketplace": ("-m", "humanexp.sites.marketplace.serve", "--port", "0"),
    "marketplace by command": ("-m", "humanexp", "marketplace", "--port", "0"),
    "panel": ("-m", "humanexp.sites.panel.serve", "--port", "0"),
    "job runner": ("manage.py", "run_jobs"),
}


@pytest.mark.process
@pytest.mark.parametrize("name", COMMANDS)
def test_a_child_ends_with_a_parent_that_was_killed(name: str, started: Any) -> None:
    parent, child = started(*COMMANDS[name], DJANGO_SETTINGS_MODULE=_settings_of(name))
    said = _first_words(parent)
    assert "ready at" in said or "waiting for jobs" in said
    parent.kill()
    parent.wait()
    until(lambda: not is_running(child), f"{name} outlives its parent")


@pytest.mark.process
def test_the_web_server_ends_with_all_its_processes(started: Any) -> None:
    parent, child = _web_server(started)
    all_of_it = descendants(child)
    assert len(all_of_it) > 2
    parent.kill()
    parent.wait()
    until(lambda: not any(map(is_running, all_of_it)), "web processes outlive their parent")


@pytest.mark.process
def test_web_processes_end_with_their_master(started: Any) -> None:
    _, child = _web_server(started)
    all_of_it = descendants(child)
    assert len(all_of_it) > 2
    os.kill(child, signal.SIGKILL)
    until(lambda: not any(map(is_running, all_of_it)), "web processes outlive their master")


@pytest.mark.process
def test_a_grandchild_ends_too_with_whom_the_variable_names(started: Any) -> None:
    script = "import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]])"
    parent, shell = started("-c", script, *COMMANDS["panel"], DJANGO_SETTINGS_MODULE="humanexp.sites.panel.settings")
    _first_words(parent)
    all_of_it = descendants(shell)
    assert len(all_of_it) == 2
    parent.kill()
    parent.wait()
    until(lambda: not any(map(is_running, all_of_it)), "the panel outlives whom it was bound to")


@pytest.mark.process
def test_a_server_that_nobody_bound_outlives_its_parent(started: Any) -> None:
    script = "import os, subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]], env={**os.environ, 'X': ''})"
    script = script.replace("'X'", repr(processes.VARIABLE))
    parent, shell = started("-c", script, *COMMANDS["panel"], DJANGO_SETTINGS_MODULE="humanexp.sites.panel.settings")
    _first_words(parent)
    [_, panel] = descendants(shell)
    for pid in (parent.pid, shell):
        os.kill(pid, signal.SIGKILL)
    try:
        time.sleep(3)
        assert is_running(panel)
    finally:
        os.kill(panel, signal.SIGKILL)


def _web_server(started: Any) -> tuple[subprocess.Popen[str], int]:
    """As the demo starts it, once it answers."""
    port = free_port()
    command = ("-m", "gunicorn", "--config=python:humanexp.serving", f"--bind=127.0.0.1:{port}", "humanexp.wsgi")
    parent, child = started(*command, ALLOWED_HOSTS="127.0.0.1")

    def answers() -> bool:
        try:
            return requests.get(f"http://127.0.0.1:{port}/livez", timeout=5).ok
        except requests.RequestException:
            return False

    until(answers, "the web server does not answer")
    return parent, child


def _settings_of(name: str) -> str:
    """Of its own process; the command turns into one that has others."""
    return f"humanexp.sites.{name}.settings" if name in ("marketplace", "panel") else "humanexp.settings"


def _first_words(parent: subprocess.Popen[str]) -> str:
    """What the child prints when it is ready: it shares its parent's output."""
    assert parent.stdout is not None
    return parent.stdout.readline()


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def begun(script: str) -> subprocess.Popen[bytes]:
    return sites.begin("web", [sys.executable, "-c", script], os.environ)


SLOW = """
import http.server, sys, threading
asked = 0
class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global asked
        asked += 1
        self.send_response(503 if asked < 4 else 200)
        self.end_headers()
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Slow).serve_forever()
"""


@pytest.mark.process
def test_a_process_that_lives_is_waited_for_and_spoken_of(media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "STILL_S", 0.0)
    told: list[str] = []
    port = free_port()
    process = sites.begin("web", [sys.executable, "-c", SLOW, str(port)], os.environ)
    try:
        sites.wait_until_ready("web", process, f"http://127.0.0.1:{port}", tell=told.append)
    finally:
        sites.end(process)
    assert told and all("still starting" in sentence for sentence in told)


@pytest.mark.process
def test_a_process_that_has_ended_is_told_at_once_with_its_last_words(media: Path) -> None:
    process = begun("print('first'); print('the port is taken'); raise SystemExit(3)")
    with pytest.raises(ProcessDied) as refused:
        sites.wait_until_ready("web", process, f"http://127.0.0.1:{free_port()}")
    assert "status 3" in refused.value.message and refused.value.message.endswith("the port is taken")


@pytest.mark.process
def test_who_cannot_wait_for_ever_says_so(media: Path) -> None:
    process = begun("import time; time.sleep(600)")
    try:
        with pytest.raises(ProcessDied, match="does not answer"):
            sites.wait_until_ready("web", process, f"http://127.0.0.1:{free_port()}", patience_s=0.5)
    finally:
        sites.end(process)
