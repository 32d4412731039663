"""Generation that is killed with its process goes on where it stopped: real processes, real database file."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from analysis.generation import (
    Original,
    PilotShard,
    cut_into_shards,
    cut_survey,
    fit_pilot_shard,
    generate_shard,
    pilot_originals,
    plan_stimuli,
    survey_shard,
    with_survey,
)
from tests.analysis.generation.originals import write_originals

ROOT = Path(__file__).parents[2]
GENERATE = ["generate_stimuli", "--images", "pets", "--corruption", "gaussian_noise,gaussian_blur", "--count", "200"]
FUNCTIONS = ("gaussian_noise", "gaussian_blur")
N_STIMULI = 2 * 200 + 24


def command(media: Path, *arguments: str, compute: str = "processes:2") -> dict[str, object]:
    """Arguments of `subprocess.Popen` for a management command on a database of its own."""
    return program(media, "manage.py", *arguments, compute=compute)


def program(media: Path, *arguments: str, compute: str = "processes:2") -> dict[str, object]:
    environment = {"MEDIA_ROOT": str(media), "COMPUTE": compute, "DJANGO_SETTINGS_MODULE": "humanexp.settings"}
    return {
        "args": [sys.executable, *arguments],
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
    with closing(sqlite3.connect(media / "humanexp.sqlite3", timeout=20)) as database:
        return database.execute(query).fetchall()


def end_lease(media: Path) -> None:
    """The lease of a killed process would run out after half a minute."""
    with closing(sqlite3.connect(media / "humanexp.sqlite3", timeout=20)) as database, database:
        database.execute("UPDATE jobs_job SET lease_until = '2020-01-01 00:00:00' WHERE state = 'running'")


def children_of(pid: int) -> list[int]:
    """Pool children, without the process that keeps track of shared resources."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
                    found.append(int(child))
    return found


MADE = "SELECT key, sha256, parameter, visual_change FROM stimuli_stimulus ORDER BY key"


def undisturbed(media: Path, folder: Path) -> set[tuple[str, str]]:
    """Names and digests of the stimuli that the analysis makes by itself from the imported pictures."""
    columns = "SELECT key, category, file, sha256 FROM stimuli_sourceimage"
    originals = [
        Original(key, category, str(media / file), sha256) for key, category, file, sha256 in rows(media, columns)
    ]
    chosen = tuple(pilot_originals(originals, 0))
    pilots = {name: fit_pilot_shard(PilotShard(name, chosen, 112, 0)) for name in FUNCTIONS}
    survey = cut_survey(originals, pilots, count=200, seed=0, size_px=112)
    pilots = with_survey(pilots, map(survey_shard, survey))
    plans = plan_stimuli(originals, pilots, corruptions=FUNCTIONS, count=200, seed=0, size_px=112)
    shards = cut_into_shards(plans, pilots, size_px=112, folder=folder)
    return {(row["stimulus"], row["sha256"]) for shard in shards for row in generate_shard(shard).rows}


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> Path:
    folder = tmp_path_factory.mktemp("imported")
    write_originals(folder / "pictures", {"cat": 8, "dog": 8, "oven": 8})
    (folder / "media").mkdir()
    shutil.copy(migrated_database, folder / "media" / "humanexp.sqlite3")
    run(folder / "media", "import_images", str(folder / "pictures"), "--name", "pets")
    return folder / "media"


@pytest.fixture
def media(imported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(imported, tmp_path / "media", dirs_exist_ok=True))


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

    end_lease(media)
    told = run(media, *generate)
    assert f"noise: {N_STIMULI - 24} stimuli and 24 clean pictures" in told

    after = rows(media, MADE)
    assert len(after) == len({key for key, *_ in after}) == N_STIMULI
    assert set(before) <= set(after)
    # What was recorded was not made again.
    assert all(path.stat().st_mtime_ns == written for path, written in files.items() if path.stem in recorded)
    assert rows(media, "SELECT state, done, total, attempt FROM jobs_job") == [("done", N_STIMULI, N_STIMULI, 2)]
    assert not (media / "stimuli" / "noise" / ".unfinished").exists()
    assert len(list((media / "stimuli" / "noise").rglob("*.png"))) == N_STIMULI

    # The same plan made here and in one go gives the same stimuli.
    assert {(key, sha256) for key, sha256, *_ in after} == undisturbed(media, tmp_path / "undisturbed")


def count_rows(media: Path) -> int:
    return rows(media, "SELECT count(*) FROM stimuli_stimulus")[0][0]


def wait_for_rows(media: Path, victim: subprocess.Popen, wanted: int) -> None:
    deadline = time.monotonic() + 60
    while count_rows(media) < wanted and victim.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


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


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to look at processes")
def test_killed_again_and_again_every_stimulus_is_there_once(kills: int, media: Path) -> None:
    count = 100 + 60 * kills
    generate = ["generate_stimuli", "--images", "pets", "--corruption", ",".join(FUNCTIONS), "--count", str(count)]
    generate += ["--size", "112", "--name", "noise"]
    rng = random.Random(kills)
    for _ in range(kills):
        kill_at_random(media, generate, rng)
    before = rows(media, MADE)
    assert len(before) < 2 * count + 24, "killed too late to tell anything"

    for _ in range(2):  # a job that has used up its attempts is taken up by the next command
        finished = subprocess.run(**command(media, *generate), timeout=120, check=False)
        if finished.returncode == 0:
            break
    assert finished.returncode == 0, finished.stdout
    total = 2 * count + 24
    after = rows(media, MADE)
    assert len(after) == len({key for key, *_ in after}) == total
    assert set(before) <= set(after), "what was recorded has changed"
    # Manifest, rows and files agree, and everything can be made again with the same bytes.
    told = run(media, "verify_stimuli", "noise")
    assert f"{total} stimuli verified, {total} made again with the same bytes" in told
    assert f"manifest: {total} rows, all as in the database" in told
    files = [path for path in (media / "stimuli").rglob("*") if path.is_file()]
    assert len(files) == total + 1
    assert rows(media, "SELECT count(*) FROM jobs_job") == [(1,)]


#: Kills its own process at a call of a function of `os`, once the named file is concerned.
SUICIDE = """
import os, signal, sys
name, moment, file = sys.argv[1:4]
real = getattr(os, name)
def call(*arguments):
    concerned = file in str(arguments[0]) or name == "fsync"
    if concerned and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = real(*arguments)
    if concerned:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
setattr(os, name, call)
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", *sys.argv[4:]])
"""


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        pytest.param("fsync", "before", marks=pytest.mark.slow),
        ("replace", "before"),
        pytest.param("replace", "after", marks=pytest.mark.slow),
    ],
)
def test_killed_while_the_manifest_is_written(name: str, moment: str, media: Path) -> None:
    generate = ["generate_stimuli", "--images", "pets", "--corruption", "gaussian_noise", "--count", "30"]
    generate += ["--size", "112", "--name", "noise"]
    killed = subprocess.run(
        **program(media, "-c", SUICIDE, name, moment, "manifest.parquet", *generate, compute="serial"),
        timeout=120,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stdout
    assert count_rows(media) == 54
    assert rows(media, "SELECT completed_at, manifest_sha256 FROM stimuli_stimulusset") == [(None, "")]
    manifest = media / "stimuli" / "noise" / "manifest.parquet"
    assert manifest.exists() == (moment == "after")
    end_lease(media)
    run(media, *generate, compute="serial")
    assert "manifest: 54 rows, all as in the database" in run(media, "verify_stimuli", "noise", compute="serial")
    assert not (media / "stimuli" / "noise" / ".unfinished").exists()
