"""A generation job that is killed with its process goes on where it stopped: real processes, real database file."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analysis.generation import (
    Original,
    PilotShard,
    cut_into_shards,
    fit_pilot_shard,
    generate_shard,
    pilot_originals,
    plan_stimuli,
)
from tests.analysis.generation.originals import write_originals

ROOT = Path(__file__).parents[2]
GENERATE = ["generate_stimuli", "--images", "pets", "--corruption", "gaussian_noise,gaussian_blur", "--count", "200"]
FUNCTIONS = ("gaussian_noise", "gaussian_blur")
N_STIMULI = 2 * 200 + 24


def command(media: Path, *arguments: str, compute: str = "processes:2") -> dict[str, object]:
    """Arguments of `subprocess.run` for a management command on a database of its own."""
    environment = {"MEDIA_ROOT": str(media), "COMPUTE": compute, "DJANGO_SETTINGS_MODULE": "humanexp.settings"}
    return {
        "args": [sys.executable, "manage.py", *arguments],
        "cwd": ROOT,
        "env": {**os.environ, **environment},
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
    }


def run(media: Path, *arguments: str, compute: str = "processes:2") -> str:
    finished = subprocess.run(**command(media, *arguments, compute=compute), timeout=120, check=False)
    assert finished.returncode == 0, finished.stdout
    return finished.stdout


def rows(media: Path, query: str) -> list[tuple]:
    with sqlite3.connect(media / "humanexp.sqlite3", timeout=20) as database:
        return database.execute(query).fetchall()


MADE = "SELECT key, sha256, parameter, visual_change FROM stimuli_stimulus ORDER BY key"


def undisturbed(media: Path, folder: Path) -> set[tuple[str, str]]:
    """Names and digests of the stimuli that the analysis makes by itself from the imported pictures."""
    columns = "SELECT key, category, file, sha256 FROM stimuli_sourceimage"
    originals = [
        Original(key, category, str(media / file), sha256) for key, category, file, sha256 in rows(media, columns)
    ]
    chosen = tuple(pilot_originals(originals, 0))
    pilots = {name: fit_pilot_shard(PilotShard(name, chosen, 112, 0)) for name in FUNCTIONS}
    plans = plan_stimuli(originals, pilots, count=200, seed=0, size_px=112)
    shards = cut_into_shards(plans, pilots, size_px=112, folder=folder)
    return {(row["stimulus"], row["sha256"]) for shard in shards for row in generate_shard(shard).rows}


@pytest.fixture
def media(tmp_path: Path) -> Path:
    write_originals(tmp_path / "pictures", {"cat": 8, "dog": 8, "oven": 8})
    media = tmp_path / "media"
    run(media, "migrate", "-v0")
    run(media, "import_images", str(tmp_path / "pictures"), "--name", "pets")
    return media


def test_killed_generation_goes_on_and_ends_with_the_same_bytes(media: Path, tmp_path: Path) -> None:
    generate = [*GENERATE, "--size", "112", "--name", "noise"]
    with subprocess.Popen(**command(media, *generate), start_new_session=True) as victim:
        deadline = time.monotonic() + 60
        while not rows(media, MADE):
            assert victim.poll() is None, victim.stdout.read()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        victim.send_signal(signal.SIGKILL)
    before = rows(media, MADE)
    assert 0 < len(before) < N_STIMULI, "killed too late to tell anything"
    assert rows(media, "SELECT state FROM jobs_job") == [("running",)]
    files = {path: path.stat().st_mtime_ns for path in (media / "stimuli" / "noise").rglob("*.png")}
    recorded = {key for key, *_ in before}

    # The lease of the killed process would run out after half a minute.
    with sqlite3.connect(media / "humanexp.sqlite3", timeout=20) as database:
        database.execute("UPDATE jobs_job SET lease_until = '2020-01-01 00:00:00'")
    told = run(media, *generate)
    assert f"noise: {N_STIMULI - 24} stimuli and 24 clean pictures" in told

    after = rows(media, MADE)
    assert len(after) == len({key for key, *_ in after}) == N_STIMULI
    assert set(before) <= set(after)
    # What was recorded was not made again.
    assert all(path.stat().st_mtime_ns == written for path, written in files.items() if path.stem in recorded)
    assert rows(media, "SELECT state, done, total, attempt FROM jobs_job") == [("done", N_STIMULI, N_STIMULI, 2)]
    assert not list((media / "stimuli").rglob("*.part"))
    assert len(list((media / "stimuli" / "noise").rglob("*.png"))) == N_STIMULI

    # The same plan made here and in one go gives the same stimuli.
    assert {(key, sha256) for key, sha256, *_ in after} == undisturbed(media, tmp_path / "undisturbed")
