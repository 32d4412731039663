"""Clocks that are set while people take part and are paid, by libfaketime under real processes."""

from __future__ import annotations

import glob
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.faults.study import study_through
from tests.journeys.site import Site

pytestmark = pytest.mark.process

#: libfaketime 0.9.10 refuses `clock_nanosleep`, by which `time.sleep` waits, where it leaves the monotonic clock alone.
SLEEP = "import select, time\ntime.sleep = lambda seconds: select.select([], [], [], seconds)[0] or None\n"


@pytest.fixture
def offset(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that says by how much the clocks of all processes that are started now are wrong."""
    found = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("libfaketime is not installed")
        pytest.skip("libfaketime is not installed")
    file = tmp_path / "offset"
    file.write_text("+0s\n")
    monkeypatch.setenv("LD_PRELOAD", found)
    monkeypatch.setenv("FAKETIME_TIMESTAMP_FILE", str(file))
    monkeypatch.setenv("FAKETIME_NO_CACHE", "1")
    # A clock that is set does not change how long the machine has been up.
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    (tmp_path / "sitecustomize.py").write_text(SLEEP)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return file


@pytest.mark.timeout(600)
@pytest.mark.parametrize("steps", [("+600s", "-600s"), ("-600s", "+600s")], ids=["forward", "back"])
def test_a_study_goes_on_when_clocks_are_set(offset: Path, site: Site, tmp_path: Path, steps: Any) -> None:
    first, second = steps

    def set_to(step: str) -> None:
        offset.write_text(f"{step}\n")
        time.sleep(3)

    told = study_through(
        site,
        tmp_path,
        during_answers=lambda: set_to(first),
        during_payments=lambda: set_to(second),
        before_checks=lambda: set_to("+0s"),  # the test's own clock is right, and calls are signed by it
    )
    sys.stdout.write(f"{told}\n")
