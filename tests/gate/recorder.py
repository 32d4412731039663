"""pytest plugin: with GATE_RECORD set, writes a line of JSON for each test there, as soon as it has ended.

The gate reads these lines while pytest runs, and the stored durations are made from them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gate.rings import ring_of

#: Failures of these kinds say more of the machine than of the product: for them alone is a `promise` repeated.
_WAITED = ("Timeout", "TimeoutError", "TimeoutExpired")


def _processor_s(pid: str = "self") -> float:
    """Of this process, of its children that have ended and, where the system tells them, of those that run."""
    try:
        fields = Path("/proc", pid, "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        tasks = list(Path("/proc", pid, "task").iterdir())
        children = [child for task in tasks for child in (task / "children").read_text(encoding="utf-8").split()]
    except OSError:
        return sum(os.times()[:4]) if pid == "self" else 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(_processor_s, children))


class Recorder:
    def __init__(self, file: Path) -> None:
        # Workers write into one file: each line at once, at its end.
        self._file = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._test: dict[str, Any] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        before = _processor_s()
        self._test = {
            "test": item.nodeid,
            "ring": ring_of(item),
            "promise": item.get_closest_marker("promise") is not None,
            "outcome": "passed",
        }
        try:
            return (yield)
        finally:
            line = json.dumps(self._test | {"processor_s": round(max(_processor_s() - before, 0.0), 3)})
            os.write(self._file, f"{line}\n".encode())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
        report: pytest.TestReport = yield
        if report.failed and self._test["outcome"] != "failed":
            assert call.excinfo is not None
            self._test |= {
                "outcome": "failed",
                "phase": report.when,
                "waited": _has_waited(call.excinfo),
                "said": report.longreprtext,
                "output": [[name, text] for name, text in report.sections],
                "load": os.getloadavg()[0],
            }
        elif report.skipped:
            self._test["outcome"] = "skipped"
        return report

    def pytest_sessionfinish(self) -> None:
        """Without this line the run has died, whatever it says of itself."""
        os.write(self._file, b'{"over": true}\n')

    def close(self) -> None:
        os.close(self._file)


def _has_waited(failure: pytest.ExceptionInfo[BaseException]) -> bool:
    return failure.typename in _WAITED or failure.exconly().startswith("Failed: Timeout")


def pytest_configure(config: pytest.Config) -> None:
    if file := os.environ.get("GATE_RECORD"):
        recorder = Recorder(Path(file))
        config.pluginmanager.register(recorder, "gate-recorder")
        config.add_cleanup(recorder.close)
        if not config.getoption("numprocesses", None):  # else its workers write there
            del os.environ["GATE_RECORD"]  # a pytest that a test starts is no part of this run
