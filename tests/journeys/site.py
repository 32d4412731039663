"""A lab's machine: the three processes as the supervisor starts them, its commands, its people. All may be killed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import requests

from humanexp.console import sites
from humanexp.console.sites import Addresses
from tests.served import free_port

ROOT = Path(__file__).resolve().parents[2]
PROCESSES = ("marketplace", "web", "run_jobs")
PATIENCE_S = 60
COMMAND_S = 150


class Site:
    """One MEDIA_ROOT and two ports, which stay the same when a process is started again."""

    def __init__(self, media_root: Path, processes: tuple[str, ...] = PROCESSES) -> None:
        self.media_root, self.processes = media_root, processes
        self.addresses = Addresses(*(free_port() for _ in range(3)))
        self.keys: dict[str, str] = {}
        self.running: dict[str, tuple[contextlib.ExitStack, subprocess.Popen[bytes]]] = {}
        self.commands: list[subprocess.Popen[str]] = []
        #: process ids of everything that was killed
        self.dead: list[int] = []
        #: how often the dead one held the right to send
        self.senders_killed = 0

    def __enter__(self) -> Site:
        if "marketplace" in self.processes:
            self.keys = sites.account_keys("marketplace", self.addresses)
        for name in self.processes:
            self.start(name, wait=False)
        for name in self.processes:
            if name != "run_jobs":
                self._wait_until_ready(name)
        return self

    def __exit__(self, *_: object) -> None:
        for command in self.commands:
            if command.poll() is None:
                command.kill()
                command.communicate()
        for _stack, process in self.running.values():
            process.terminate()
        for stack, _process in self.running.values():
            stack.close()

    # Processes --------------------------------------------------------------------------------------------------

    def start(self, name: str, *, wait: bool = True) -> None:
        stack = contextlib.ExitStack()
        process = stack.enter_context(sites.started(name, self.addresses, self._changes))
        self.running[name] = stack, process
        if wait and name != "run_jobs":
            self._wait_until_ready(name)

    def kill(self, name: str) -> None:
        """As a power cut ends it: SIGKILL, no last word."""
        stack, process = self.running.pop(name)
        self.end(process)
        stack.close()

    def end(self, process: subprocess.Popen[Any]) -> None:
        killed = kill_all_of(process)
        self.dead += killed
        self.senders_killed += sum(self._holds_the_lease(pid) for pid in killed)

    def _holds_the_lease(self, pid: int) -> bool:
        return bool(self.platform("SELECT 1 FROM recruitment_senderlease WHERE holder LIKE ?", _holder(pid)))

    def crash(self, name: str) -> None:
        """Kill it and start it again, on the same port."""
        self.kill(name)
        self.start(name)

    def log(self, name: str) -> str:
        return (self.media_root / "logs" / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def _wait_until_ready(self, name: str) -> None:
        url = self.addresses.web if name == "web" else self.addresses.marketplace
        sites.wait_until_ready(name, self.running[name][1], url)

    # Commands ---------------------------------------------------------------------------------------------------

    def begin(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        """A python process beside the three: `manage.py ...`, or `-m ...`; its output is read when it ends.

        `more` is added to its environment.
        """
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.commands.append(process)
        return process

    def run(self, *arguments: str) -> tuple[int, str]:
        process = self.begin(*arguments)
        said, _ = process.communicate(timeout=COMMAND_S)
        return process.returncode, said

    def manage(self, *arguments: str) -> tuple[int, str]:
        return self.run("manage.py", *arguments)

    def must(self, *arguments: str) -> str:
        """A command that has to succeed."""
        status, said = self.manage(*arguments)
        assert status == 0, f"{' '.join(arguments)}: {said}"
        return said

    @property
    def environment(self) -> dict[str, str]:
        return sites.environment(self.addresses, self._changes)

    @property
    def _changes(self) -> dict[str, str]:
        return {
            **self.keys,
            "DJANGO_SETTINGS_MODULE": "humanexp.settings",
            "MEDIA_ROOT": str(self.media_root),
            "COMPUTE": "serial",
        }

    def marketplace_control(self, name: str, **wanted: object) -> None:
        """Needs the fixture `marketplace_controls`."""
        requests.post(f"{self.addresses.marketplace}/_test/{name}", json=wanted, timeout=20).raise_for_status()

    # Books ------------------------------------------------------------------------------------------------------

    def platform(self, query: str, *values: object) -> list[sqlite3.Row]:
        return _rows(self.media_root / "humanexp.sqlite3", query, values)

    def marketplace(self, query: str, *values: object) -> list[sqlite3.Row]:
        return _rows(self.media_root / "marketplace.sqlite3", query, values)

    def change_platform(self, statement: str, *values: object) -> None:
        with contextlib.closing(sqlite3.connect(self.media_root / "humanexp.sqlite3", timeout=20)) as database:
            database.execute(statement, values)
            database.commit()

    def is_sending(self) -> bool:
        """Whether somebody holds the right to send who has not been killed."""
        held = [row["holder"] for row in self.platform("SELECT holder FROM recruitment_senderlease WHERE holder != ''")]
        dead = tuple(_holder(pid).rstrip("%") for pid in self.dead)
        return any(not holder.startswith(dead) for holder in held)

    def let_leases_run_out(self) -> None:
        """What waiting for 90 seconds would do: the leases of those who were killed are over, no others."""
        over = "2000-01-01 00:00:00"
        for pid in self.dead:
            holder = _holder(pid)
            self.change_platform(
                "UPDATE recruitment_senderlease SET until = ?, until_uptime_s = 0 WHERE holder LIKE ?", over, holder
            )
            self.change_platform(
                "UPDATE jobs_job SET lease_until = ? WHERE runner LIKE ? AND state = 'running'", over, holder
            )


def kill_all_of(process: subprocess.Popen[Any]) -> list[int]:
    """A process and those that it started, as the web server starts workers; returns their ids."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    family = [process.pid, *(int(pid) for pid in children.read_text().split())] if children.exists() else [process.pid]
    for pid in family:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait(20)
    return family


def _holder(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}:%"


def wait_for(holds: Callable[[], object], what: str, *, patience_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < deadline, f"{what}: not within {patience_s} s"
        time.sleep(0.01)


def _rows(path: Path, query: str, values: tuple[object, ...]) -> list[sqlite3.Row]:
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)) as database:
        database.row_factory = sqlite3.Row
        return database.execute(query, values).fetchall()


class Heard:
    """What the people heard: the replies that reached them, in order. Written by `tests.journeys.people`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()
        self._lines: list[dict[str, Any]] = []
        self._read = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with self.path.open("rb") as stream:
            stream.seek(self._read)
            # The last line may be half written.
            whole = stream.read().rpartition(b"\n")[0]
        if whole:
            self._read += len(whole) + 1
            self._lines += map(json.loads, whole.split(b"\n"))
        return iter(self._lines)

    def replies(self, path: str) -> list[dict[str, Any]]:
        """Accepted requests to paths that match."""
        return [line for line in self if line.get("status", 500) < 400 and re.search(path, line["path"])]

    def lost(self) -> list[dict[str, Any]]:
        """Requests of which nobody heard whether they took effect."""
        return [line for line in self if "lost" in line]

    def answers(self) -> dict[tuple[int, int], str]:
        """Every acknowledged answer by session and position."""
        found: dict[tuple[int, int], str] = {}
        for line in self.replies(r"/responses/$"):
            place = line["session"], line["sent"]["position"]
            assert found.setdefault(place, line["sent"]["response"]) == line["sent"]["response"]
        return found

    def submitted(self) -> set[str]:
        return {line["sent"]["assignmentId"] for line in self.replies(r"/mturk/externalSubmit$")}


os.environ.setdefault("PYTHONUNBUFFERED", "1")
