"""Generation that is killed with its process goes on where it stopped: real processes, real database file."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from analysis.generation.plan import pilot_originals, plan_stimuli
from analysis.generation.reach_survey import cut_survey, survey_shard, with_survey
from analysis.generation.shards import PilotShard, cut_into_shards, fit_pilot_shard, generate_shard
from analysis.original import Original
from tests.limits import LIMIT
from tests.stimuli.killing import (
    FUNCTIONS,
    MADE,
    count_rows,
    end_lease,
    program,
    rows,
    run,
    run_until_it_dies,
)

pytestmark = pytest.mark.process

#: Some shards for each function.
COUNT = 60
N_STIMULI = len(FUNCTIONS) * COUNT + 24


def undisturbed(media: Path, folder: Path) -> set[tuple[str, str]]:
    """Names and digests of the stimuli that the analysis makes by itself from the imported pictures."""
    columns = "SELECT key, category, file, sha256 FROM stimuli_sourceimage"
    originals = [
        Original(key, category, str(media / file), sha256) for key, category, file, sha256 in rows(media, columns)
    ]
    chosen = tuple(pilot_originals(originals, 0))
    pilots = {name: fit_pilot_shard(PilotShard(name, chosen, 112, 0)) for name in FUNCTIONS}
    survey = cut_survey(originals, pilots, count=COUNT, seed=0, size_px=112)
    pilots = with_survey(pilots, map(survey_shard, survey))
    plans = plan_stimuli(originals, pilots, corruptions=FUNCTIONS, count=COUNT, seed=0, size_px=112)
    shards = cut_into_shards(plans, pilots, size_px=112, folder=folder)
    return {(row["stimulus"], row["sha256"]) for shard in shards for row in generate_shard(shard).rows}


@pytest.mark.gate
@pytest.mark.promise(6)
def test_killed_generation_goes_on_and_ends_with_the_same_bytes(pets: Path, tmp_path: Path) -> None:
    generate = ["generate_stimuli", "--images", "pets", "--corruption", ",".join(FUNCTIONS), "--count", str(COUNT)]
    generate += ["--size", "112", "--name", "noise"]
    run_until_it_dies(pets, *generate)
    before = rows(pets, MADE)
    assert 0 < len(before) < N_STIMULI, "killed too late to tell anything"
    assert rows(pets, "SELECT state FROM jobs_job") == [("running",)]
    files = {path: path.stat().st_mtime_ns for path in (pets / "stimuli" / "noise").rglob("*.png")}
    recorded = {key for key, *_ in before}

    end_lease(pets)
    told = run(pets, *generate)
    assert f"noise: {N_STIMULI - 24} stimuli and 24 clean pictures" in told

    after = rows(pets, MADE)
    assert len(after) == len({key for key, *_ in after}) == N_STIMULI
    assert set(before) <= set(after)
    # What was recorded was not made again.
    assert all(path.stat().st_mtime_ns == written for path, written in files.items() if path.stem in recorded)
    assert rows(pets, "SELECT state, done, total, attempt FROM jobs_job") == [("done", N_STIMULI, N_STIMULI, 2)]
    assert not (pets / "stimuli" / "noise" / ".unfinished").exists()
    assert len(list((pets / "stimuli" / "noise").rglob("*.png"))) == N_STIMULI

    # The same plan made here and in one go gives the same stimuli.
    assert {(key, sha256) for key, sha256, *_ in after} == undisturbed(pets, tmp_path / "undisturbed")


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
def test_killed_while_the_manifest_is_written(name: str, moment: str, pets: Path) -> None:
    generate = ["generate_stimuli", "--images", "pets", "--corruption", "gaussian_noise", "--count", "30"]
    generate += ["--size", "112", "--name", "noise"]
    killed = subprocess.run(
        **program(pets, "-c", SUICIDE, name, moment, "manifest.parquet", *generate, compute="serial"),
        timeout=LIMIT,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stdout
    assert count_rows(pets) == 54
    assert rows(pets, "SELECT completed_at, manifest_sha256 FROM stimuli_stimulusset") == [(None, "")]
    manifest = pets / "stimuli" / "noise" / "manifest.parquet"
    assert manifest.exists() == (moment == "after")
    end_lease(pets)
    run(pets, *generate, compute="serial")
    assert "manifest: 54 rows, all as in the database" in run(pets, "verify_stimuli", "noise", compute="serial")
    assert not (pets / "stimuli" / "noise" / ".unfinished").exists()
