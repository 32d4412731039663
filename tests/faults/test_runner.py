"""A runner that is killed, or told to stop: its job goes on elsewhere, and payments do not wait for it."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.faults.runners import Lab
from tests.faults.site import Installation


@pytest.fixture
def lab(tmp_path: Path, migrated_database: Path) -> Lab:
    media = tmp_path / "media"
    media.mkdir()
    (media / "humanexp.sqlite3").write_bytes(migrated_database.read_bytes())
    return Lab(Installation(media), tmp_path)


def test_the_job_of_a_killed_runner_is_taken_up_by_another(lab: Lab) -> None:
    job = lab.submit("faults.long", seconds=15)
    with lab.runner() as killed:
        lab.wait_until(job, "running")
        killed.send_signal(signal.SIGKILL)
        killed.wait(10)
    with lab.runner("second"):
        found = lab.wait_until(job, "done", patience_s=90)
    assert found["attempt"] == 2 and found["result"] == {"seconds": 15}


def test_told_to_stop_it_hands_its_job_back_at_once(lab: Lab) -> None:
    job = lab.submit("faults.long", seconds=120)
    with lab.runner() as told:
        lab.wait_until(job, "running")
        told_at = time.monotonic()
        told.send_signal(signal.SIGTERM)
        assert told.wait(10) == 0
        waited_s = time.monotonic() - told_at
    found = lab.job(job)
    assert (found["state"], found["attempt"], found["runner"]) == ("queued", 0, ""), found
    assert waited_s < 10, f"{waited_s:.1f} s"


def test_payments_go_on_while_a_job_does_not_hear(lab: Lab) -> None:
    job = lab.submit("faults.deaf", seconds=120)
    with lab.runner() as told:
        lab.wait_until(job, "running")
        told_at = time.monotonic()
        told.send_signal(signal.SIGTERM)
        payment = lab.submit("faults.payment")
        assert told.wait(12) == 0
        waited_s = time.monotonic() - told_at
    assert lab.job(payment)["state"] == "done"
    found = lab.job(job)
    assert (found["state"], found["attempt"]) == ("queued", 0), found
    assert waited_s < 10, f"{waited_s:.1f} s"
