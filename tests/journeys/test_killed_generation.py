"""Generation that is killed at random moments, with its children or before its first stimulus, and started again."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.limits import until
from tests.stimuli.killing import FUNCTIONS, MADE, command, count_rows, end_lease, rows, run

pytestmark = pytest.mark.process


def children_of(pid: int) -> list[int]:
    """Pool children, without the process that keeps track of shared resources."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
                    found.append(int(child))
    return found


def wait_for_rows(media: Path, victim: subprocess.Popen, wanted: int) -> None:
    until(lambda: count_rows(media) >= wanted or victim.poll() is not None, f"{wanted} rows")


def kill_at_random(media: Path, generate: list[str], rng: random.Random) -> None:
    """Start the command and kill it somewhere on its way, sometimes one of its children before."""
    compute = rng.choice(["processes:2", "processes:2", "serial"])
    begun = count_rows(media)
    with subprocess.Popen(**command(media, *generate, compute=compute), start_new_session=True) as victim:
        if rng.random() < 0.2:
            time.sleep(rng.uniform(0.2, 2.0))  # perhaps before the first stimulus
        else:
            wait_for_rows(media, victim, begun + rng.randrange(1, 40))
        if compute != "serial" and rng.random() < 0.5 and (children := children_of(victim.pid)):
            os.kill(rng.choice(children), signal.SIGKILL)
            wait_for_rows(media, victim, count_rows(media) + 20)
        time.sleep(rng.uniform(0, 0.1))
        if victim.poll() is not None:
            # The job had used up its attempts; the next command takes it up again.
            told = victim.stdout.read()
            assert "The process that ran this job died" in told, told
            kill_at_random(media, generate, rng)
            return
        victim.send_signal(signal.SIGKILL)
    end_lease(media)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to look at processes")
def test_killed_again_and_again_every_stimulus_is_there_once(kills: int, pets: Path) -> None:
    count = 100 + 60 * kills
    generate = ["generate_stimuli", "--images", "pets", "--corruption", ",".join(FUNCTIONS), "--count", str(count)]
    generate += ["--size", "112", "--name", "noise"]
    rng = random.Random(kills)
    for _ in range(kills):
        kill_at_random(pets, generate, rng)
    before = rows(pets, MADE)
    assert len(before) < 2 * count + 24, "killed too late to tell anything"

    for _ in range(2):  # a job that has used up its attempts is taken up by the next command
        finished = subprocess.run(**command(pets, *generate), timeout=300, check=False)
        if finished.returncode == 0:
            break
    assert finished.returncode == 0, finished.stdout
    total = 2 * count + 24
    after = rows(pets, MADE)
    assert len(after) == len({key for key, *_ in after}) == total
    assert set(before) <= set(after), "what was recorded has changed"
    # Manifest, rows and files agree, and everything can be made again with the same bytes.
    told = run(pets, "verify_stimuli", "noise")
    assert f"{total} stimuli verified, {total} made again with the same bytes" in told
    assert f"manifest: {total} rows, all as in the database" in told
    files = [path for path in (pets / "stimuli").rglob("*") if path.is_file()]
    assert len(files) == total + 1
    assert rows(pets, "SELECT count(*) FROM jobs_job") == [(1,)]
