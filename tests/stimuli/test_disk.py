"""Storage that is full or cannot be written: a clear sentence, nothing half-written, and the job goes on later."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.stimuli.services import generated_sets
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generated_sets import verify_stimuli
from humanexp.stimuli.services.generation import create_stimulus_set, delete_stimulus_set, start_generation
from tests.disks import mounted

pytestmark = pytest.mark.django_db


@pytest.fixture
def stimulus_set(source_set: SourceSet) -> StimulusSet:
    return create_stimulus_set(
        Described(source_set=source_set, name="noise", corruptions=["uniform_noise"], count=60, seed=3, size_px=112)
    )


def run_job(stimulus_set: StimulusSet) -> Job:
    job = start_generation(stimulus_set=stimulus_set)
    runner.run_waiting()
    job.refresh_from_db()
    return job


def assert_nothing_is_half_written(stimulus_set: StimulusSet) -> None:
    """Every recorded file is whole, no other kind of file lies about, and the set is not called complete."""
    stimulus_set.refresh_from_db()
    assert stimulus_set.completed_at is None
    if stimulus_set.stimuli.exists():
        assert verify_stimuli(stimulus_set).stimuli.passed
    assert not [path for path in media_path("stimuli/noise/.unfinished").glob("*") if path.is_file()]


def assert_it_goes_on(stimulus_set: StimulusSet) -> None:
    job = run_job(stimulus_set)
    assert (job.state, job.error) == (JobState.DONE, "")
    stimulus_set.refresh_from_db()
    found = verify_stimuli(stimulus_set)
    assert found.passed
    assert found.stimuli.identical == found.manifest_rows == 68


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB where the stimuli go."""
    folder = media_path("stimuli")
    folder.mkdir()
    with mounted(folder, "3m"):
        yield folder


@pytest.mark.process
@pytest.mark.parametrize("compute", ["serial", "processes:2"])
def test_a_full_disk_stops_the_job_with_a_sentence(
    compute: str,
    stimulus_set: StimulusSet,
    small_disk: Path,
    settings,  # noqa: ANN001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.COMPUTE = compute
    monkeypatch.setattr(generated_sets, "SPARE_BYTES", 0)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(2_000_000))
    job = run_job(stimulus_set)
    assert job.state == JobState.FAILED
    assert "the disk is full" in job.error
    assert "Free some space, then start again" in job.error
    assert "Traceback" not in job.error
    assert 0 < stimulus_set.stimuli.count() < 68
    assert_nothing_is_half_written(stimulus_set)
    ballast.unlink()
    assert_it_goes_on(stimulus_set)


@pytest.mark.process
def test_the_job_stops_before_the_database_cannot_be_written(stimulus_set: StimulusSet, small_disk: Path) -> None:
    job = run_job(stimulus_set)  # 3 MB are less than what is kept free
    assert job.state == JobState.FAILED
    assert "less than 16 MB are free. Free some space, then start again" in job.error
    assert not stimulus_set.stimuli.exists()


@pytest.mark.process
def test_the_disk_is_watched_while_stimuli_are_made(
    stimulus_set: StimulusSet, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Enough is free at the start; the job stops at the reserve, with the disk not full yet."""
    monkeypatch.setattr(generated_sets, "SPARE_BYTES", 2**20)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(3 * 2**20 - 2**20 - 200_000))
    job = run_job(stimulus_set)
    assert job.state == JobState.FAILED
    assert "less than 1 MB are free" in job.error
    assert 0 < stimulus_set.stimuli.count() < 68
    assert shutil.disk_usage(small_disk).free > 2**19
    assert_nothing_is_half_written(stimulus_set)
    monkeypatch.setattr(generated_sets, "SPARE_BYTES", 0)
    ballast.unlink()
    assert_it_goes_on(stimulus_set)


@pytest.mark.process
def test_a_full_disk_at_the_manifest_leaves_none(
    stimulus_set: StimulusSet, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generated_sets, "SPARE_BYTES", 0)

    def fill(folder: Path) -> None:
        with pytest.raises(OSError, match="No space left"), (folder / "ballast").open("wb", buffering=0) as ballast:
            while True:
                ballast.write(bytes(4096))

    monkeypatch.setattr(generated_sets, "close_folder", fill)
    job = run_job(stimulus_set)
    monkeypatch.undo()
    monkeypatch.setattr(generated_sets, "SPARE_BYTES", 0)
    assert job.state == JobState.FAILED
    assert "manifest.parquet could not be written: the disk is full" in job.error
    assert stimulus_set.stimuli.count() == 68
    assert not media_path("stimuli/noise/manifest.parquet").exists()
    assert_nothing_is_half_written(stimulus_set)
    media_path("stimuli/noise/ballast").unlink()
    assert_it_goes_on(stimulus_set)


def test_a_file_in_the_place_of_the_folder_is_told_before_the_work(stimulus_set: StimulusSet) -> None:
    media_path("stimuli").write_bytes(b"in the way")
    job = run_job(stimulus_set)
    assert job.state == JobState.FAILED
    assert "could not be written" in job.error
    assert "Make the folder writable" in job.error
    assert "Traceback" not in job.error
    stimulus_set.refresh_from_db()
    assert stimulus_set.pilots == {}
    media_path("stimuli").unlink()
    assert_it_goes_on(stimulus_set)


@pytest.mark.process
def test_storage_that_became_unwritable_on_the_way_is_told(
    stimulus_set: StimulusSet, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generated_sets, "SPARE_BYTES", 0)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    job = run_job(stimulus_set)
    assert job.state == JobState.FAILED
    assert "Read-only file system" in job.error
    assert "Make the folder writable" in job.error
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert_it_goes_on(stimulus_set)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_told(stimulus_set: StimulusSet) -> None:
    media_path("stimuli").mkdir(mode=0o500)
    assert "Make the folder writable" in run_job(stimulus_set).error


@pytest.mark.process
def test_a_deletion_that_cannot_remove_files_says_so_and_can_be_repeated(
    stimulus_set: StimulusSet, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generated_sets, "SPARE_BYTES", 0)
    assert_it_goes_on(stimulus_set)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(InvalidRequest, match="Make the folder writable"):
        delete_stimulus_set(stimulus_set=stimulus_set)
    assert stimulus_set.stimuli.count() == 68
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert delete_stimulus_set(stimulus_set=stimulus_set) == 68
