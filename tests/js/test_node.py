"""Runs the tests of the trial engine with Node's own test runner."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[2]
TESTS = sorted(Path(__file__).parent.glob("*.test.js"))


def node() -> str:
    path = shutil.which("node")
    if path is None:
        reason = "node (20 or newer) is not installed: the trial engine's own tests cannot run"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.mark.process
@pytest.mark.gate
def test_the_trial_engine_passes_its_own_tests() -> None:
    finished = subprocess.run(
        # One file after the other: as many processes as there are cores would share what the suite has.
        [node(), "--test", "--test-concurrency=1", *map(str, TESTS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    failed = [line for line in finished.stdout.splitlines() if line.startswith("not ok")]
    assert finished.returncode == 0, "\n".join(failed) + "\n" + finished.stdout[-6000:] + finished.stderr[-2000:]


def test_every_module_with_logic_has_its_tests() -> None:
    modules = {path.stem for path in (ROOT / "static" / "js" / "participation" / "trial").glob("*.js")}
    tested = {path.name.removesuffix(".test.js") for path in TESTS}
    # These need a whole page: tests/browser walks through them.
    on_the_page = (
        "attention block checks deletion entry example feedback flow instructions leaving main page ready "
        "screens way-out"
    )
    assert modules - tested == {*on_the_page.split(), "sound"}
