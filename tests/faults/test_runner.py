"""A runner that is killed, or told to stop: its job goes on elsewhere, and payments do not wait for it."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.faults.runners import Lab
from tests.faults.site import Installation
from tests.limits import LIMIT

pytestmark = pytest.mark.process


@pytest.fixture
def lab(tmp_path: Path, migrated_database: Path) -> Lab:
    media = tmp_path / "media"
    media.mkdir()
    (media / "humanexp.sqlite3").write_bytes(migrated_database.read_bytes())
    return Lab(Installation(media), tmp_path)


@pytest.mark.gate
@pytest.mark.promise(10)
def test_the_job_of_a_killed_runner_is_taken_up_by_another(lab: Lab, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    job = lab.submit("faults.gated", gate=str(gate))
    with lab.runner() as killed:
        lab.wait_until(job, "running")
        killed.send_signal(signal.SIGKILL)
        killed.wait(LIMIT)
    gate.touch()
    lab.end_leases()
    with lab.runner("second"):
        found = lab.wait_until(job, "done")
    assert found["attempt"] == 2 and found["result"] == {"gate": str(gate)}


@pytest.mark.gate
@pytest.mark.promise(10)
def test_told_to_stop_it_hands_its_job_back_at_once(lab: Lab) -> None:
    job = lab.submit("faults.long", seconds=2 * LIMIT)
    with lab.runner() as told:
        lab.wait_until(job, "running")
        told.send_signal(signal.SIGTERM)
        assert told.wait(LIMIT) == 0
    found = lab.job(job)
    assert (found["state"], found["attempt"], found["runner"]) == ("queued", 0, ""), found


@pytest.mark.gate
@pytest.mark.promise(10)
def test_payments_go_on_while_a_job_does_not_hear(lab: Lab) -> None:
    job, payment = lab.submit("faults.deaf", seconds=2 * LIMIT), lab.submit_for_later("faults.payment")
    with lab.runner() as told:
        lab.wait_until(job, "running")
        told.send_signal(signal.SIGTERM)
        lab.make_due(payment)
        assert told.wait(LIMIT) == 0
    assert lab.job(payment)["state"] == "done"
    found = lab.job(job)
    assert (found["state"], found["attempt"]) == ("queued", 0), found


@pytest.mark.bench
@pytest.mark.parametrize("kind", ["faults.long", "faults.deaf"])
def test_told_to_stop_it_ends_within_ten_seconds(lab: Lab, kind: str) -> None:
    """Whoever stops machines kills what has not ended by then."""
    job = lab.submit(kind, seconds=120)
    with lab.runner() as told:
        lab.wait_until(job, "running")
        told_at = time.monotonic()
        told.send_signal(signal.SIGTERM)
        assert told.wait(LIMIT) == 0
        waited_s = time.monotonic() - told_at
    assert waited_s < 10, f"{waited_s:.1f} s"
