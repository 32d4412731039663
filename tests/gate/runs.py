"""Runs of pytest and of the checks beside each other: started, listened to, ended with the gate."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from tests.gate.rings import ROOT

#: One order, one seed, one hash: what is red here is red wherever it is repeated.
PYTEST = (sys.executable, "-m", "pytest", "-q", "--randomly-dont-reorganize", "--randomly-seed=1")
#: One thread of linear algebra: two add up in another order, and take from each other what other runs need. Plugins of
#: pytest load NumPy before the tests' settings can say so.
FIXED = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENCV_FOR_THREADS_NUM": "1"}
_POLL_S = 0.2
#: How pytest ends that was given none.
_NO_TESTS = 5


class Run:
    """One process, its output in a file, and the tests that have ended so far."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, where: Path = ROOT, **environment: str) -> None:
        self.name, self.command, self.where = name, list(command), where
        self.output = folder / f"{name.replace(' ', '-')}.log"
        self.record = folder / f"{name.replace(' ', '-')}.jsonl"
        self.record.unlink(missing_ok=True)
        self.own = environment
        self.environment = {**os.environ, **FIXED, "GATE_RECORD": str(self.record), **environment}
        self.is_pytest = "pytest" in self.command
        self.may_be_empty = False
        self.tests: list[dict[str, Any]] = []
        self.seconds = 0.0
        self.was_stopped = False
        self._read = 0
        self._was_finished = False
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        self._began = time.monotonic()
        with self.output.open("wb") as output:
            self._process = subprocess.Popen(
                self.command,
                cwd=self.where,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self

    def listen(self) -> list[dict[str, Any]]:
        """Tests that have ended since the last call."""
        if not self.record.exists():
            return []
        with self.record.open(encoding="utf-8") as record:
            record.seek(self._read)
            whole, _, _ = record.read().rpartition("\n")
        self._read += len(f"{whole}\n".encode()) if whole else 0
        lines = [json.loads(line) for line in whole.splitlines()]
        news = [line for line in lines if "test" in line]
        self._was_finished |= len(news) < len(lines)
        self.tests += news
        return news

    @property
    def has_ended(self) -> bool:
        assert self._process is not None
        return self._process.poll() is not None

    @property
    def status(self) -> int:
        assert self._process is not None
        return self._process.wait()

    def settle(self) -> None:
        self.listen()
        self.seconds = time.monotonic() - self._began

    def stop(self) -> None:
        """With everything that it has started."""
        if self._process is not None and self._process.poll() is None:
            self.was_stopped = True
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()

    def passed(self) -> int:
        return sum(test["outcome"] == "passed" for test in self.tests)

    def failed(self) -> list[dict[str, Any]]:
        return [test for test in self.tests if test["outcome"] == "failed"]

    @property
    def broke(self) -> bool:
        """It ended otherwise than by its tests: an error of collection, a crash, no test where there should be some."""
        if self.was_stopped or (self.status == 1 and self.failed()):
            return False
        if self.may_be_empty and self.status == _NO_TESTS:
            return False
        return self.status != 0 or (self.is_pytest and not self._was_finished)


def pytest_run(name: str, arguments: Iterable[str], folder: Path, **environment: str) -> Run:
    return Run(name, [*PYTEST, *arguments], folder, **environment)


def end_when_told() -> None:
    """SIGTERM ends what this process has started, too."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def beside(
    runs: Sequence[Run], hear: Callable[[Run, list[dict[str, Any]]], object], ended: Callable[[Run], object]
) -> None:
    """Start all, and wait for all; `hear` and `ended` may stop them. Nothing outlives this call."""
    going = [run.start() for run in runs]
    try:
        while going:
            time.sleep(_POLL_S)
            for run in list(going):
                over = run.has_ended
                hear(run, run.listen())
                if over:
                    run.settle()
                    going.remove(run)
                    ended(run)
    finally:
        for run in runs:
            run.stop()
