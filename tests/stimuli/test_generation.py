from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from analysis.corruptions import corrupt
from analysis.generation import prepare_original
from analysis.tables import STIMULI
from humanexp.core.errors import InvalidRequest, JobCancelled
from humanexp.core.storage import media_path
from humanexp.jobs import runner
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job, JobState
from humanexp.stimuli import selectors, services
from humanexp.stimuli.generation import make_stimuli
from humanexp.stimuli.models import SourceImage, SourceSet, Stimulus, StimulusSet

pytestmark = pytest.mark.django_db

WANTED = {"corruptions": ["gaussian_noise", "gaussian_blur"], "count": 40, "seed": 3, "size_px": 112}


@pytest.fixture
def stimulus_set(source_set: SourceSet) -> StimulusSet:
    return services.create_stimulus_set(source_set=source_set, name="noise", **WANTED)


def made(stimulus_set: StimulusSet) -> dict[str, tuple]:
    return {s.key: (s.corruption, s.parameter, s.visual_change, s.sha256) for s in stimulus_set.stimuli.all()}


def quiet(done: int, total: int, message: str = "") -> None:
    """A progress report that nobody reads."""


def test_a_job_makes_files_and_rows(stimulus_set: StimulusSet) -> None:
    job = services.start_generation(stimulus_set=stimulus_set)
    assert services.start_generation(stimulus_set=stimulus_set) == job
    runner.run_waiting()
    job.refresh_from_db()
    stimulus_set.refresh_from_db()
    assert (job.state, job.error) == (JobState.DONE, "")
    assert (job.done, job.total, job.result) == (88, 88, {"count": 88})
    assert stimulus_set.completed_at is not None
    assert stimulus_set.metric == "vif-wavelet-1"
    assert stimulus_set.source_set.frozen_at is not None
    counts = Counter(stimulus_set.stimuli.values_list("corruption", flat=True))
    assert counts == {"gaussian_noise": 40, "gaussian_blur": 40, "none": 8}
    assert stimulus_set.stimuli.filter(corruption="none").values("source_image").distinct().count() == 8
    for stimulus in stimulus_set.stimuli.select_related("source_image")[:20]:
        original = prepare_original(media_path(stimulus.source_image.file), 112)
        shown = np.asarray(Image.open(media_path(stimulus.file)))
        assert np.array_equal(shown, corrupt(original, stimulus.corruption, stimulus.parameter, stimulus.seed))


def test_the_manifest_is_a_valid_table(stimulus_set: StimulusSet) -> None:
    make_stimuli(stimulus_set, quiet)
    frame = selectors.manifest(stimulus_set)
    assert len(STIMULI.validate(frame, source="manifest")) == 88
    assert set(frame["original"]) == set(stimulus_set.source_set.images.values_list("key", flat=True))
    assert all(media_path(file).is_file() for file in frame["file"])


def test_children_make_the_same_as_this_process(stimulus_set: StimulusSet, source_set: SourceSet, settings) -> None:  # noqa: ANN001
    make_stimuli(stimulus_set, quiet)
    settings.COMPUTE = "processes:2"
    other = services.create_stimulus_set(source_set=source_set, name="again", **WANTED)
    make_stimuli(other, quiet)
    assert made(other) == made(stimulus_set)


def test_cancelled_work_goes_on_where_it_stopped(stimulus_set: StimulusSet) -> None:
    def cancel_early(done: int, total: int, message: str = "") -> None:
        if done >= 30:
            raise JobCancelled

    with pytest.raises(JobCancelled):
        make_stimuli(stimulus_set, cancel_early)
    before = {s.key: media_path(s.file).stat().st_mtime_ns for s in stimulus_set.stimuli.all()}
    assert 30 <= len(before) < 88
    assert StimulusSet.objects.get().completed_at is None
    told: list[int] = []
    make_stimuli(stimulus_set, lambda done, total, message="": told.append(done))
    after = {s.key: media_path(s.file).stat().st_mtime_ns for s in stimulus_set.stimuli.all()}
    assert len(after) == 88
    assert {key: after[key] for key in before} == before
    assert told[-1] == 88


def test_a_job_that_is_asked_to_stop_stops_and_can_go_on(stimulus_set: StimulusSet, monkeypatch) -> None:  # noqa: ANN001
    monkeypatch.setattr(runner.time, "monotonic", iter(range(0, 100_000, 10)).__next__)  # every report is written
    job = services.start_generation(stimulus_set=stimulus_set)
    claimed = jobs.claim(runner="here")
    Job.objects.filter(pk=job.pk).update(cancel_requested=True)
    runner.run_one(claimed, "here")
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    resumed = services.start_generation(stimulus_set=stimulus_set)
    assert resumed.pk == job.pk
    runner.run_waiting()
    resumed.refresh_from_db()
    assert resumed.state == JobState.DONE
    assert stimulus_set.stimuli.count() == 88


def test_lost_files_are_made_again_with_the_same_bytes(stimulus_set: StimulusSet) -> None:
    make_stimuli(stimulus_set, quiet)
    before = made(stimulus_set)
    lost = stimulus_set.stimuli.exclude(corruption="none").first()
    media_path(lost.file).unlink()
    leftover = media_path("stimuli/noise/.unfinished/0.png.1")
    leftover.parent.mkdir()
    leftover.write_bytes(b"half")
    make_stimuli(stimulus_set, quiet)
    assert media_path(lost.file).is_file()
    assert made(stimulus_set) == before
    assert not leftover.parent.exists()


def test_a_picture_that_became_unreadable_ends_the_job_with_its_name(stimulus_set: StimulusSet) -> None:
    image = SourceImage.objects.get(key="dog-1")
    media_path(image.file).write_bytes(b"gone bad")
    job = services.start_generation(stimulus_set=stimulus_set)
    runner.run_waiting()
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert Path(image.file).name in job.error
    assert "Traceback" not in job.error


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"corruptions": []}, "at least one corruption"),
        ({"corruptions": ["fog"]}, "no corruption named 'fog'"),
        ({"count": 0}, "between 1 and"),
        ({"size_px": 64}, "between 96 and 1024 px, not 64"),
        ({"size_px": 300}, "8 pictures of pets are too small to be shown at 300 px"),
        ({"seed": -1}, "seed must lie"),
        ({"name": "two words"}, "cannot be a name"),
    ],
)
def test_impossible_sets_are_refused(source_set: SourceSet, change: dict, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        services.create_stimulus_set(**{"source_set": source_set, "name": "x", **WANTED, **change})
    assert not StimulusSet.objects.exists()
    source_set.refresh_from_db()
    assert source_set.frozen_at is None


COMMAND = {"images": "pets", "corruption": "gaussian_noise,gaussian_blur", "count": 24, "size": 112, "name": "noise"}


def test_command_makes_a_set_and_a_second_call_finds_it_done(
    source_set: SourceSet, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("generate_stimuli", **COMMAND)
    told = capsys.readouterr().out
    assert "noise: 48 stimuli and 8 clean pictures" in told
    assert "gaussian_blur: 24 stimuli" in told
    before = made(StimulusSet.objects.get())
    call_command("generate_stimuli", **COMMAND)
    assert made(StimulusSet.objects.get()) == before
    with pytest.raises(CommandError, match="another seed: choose another name"):
        call_command("generate_stimuli", **{**COMMAND, "seed": 5})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"images": "nothing"}, "There are: pets"),
        ({"corruption": "fog"}, "choose from .*gaussian_blur"),
        ({"corruption": ","}, "at least one corruption"),
        ({"count": -4}, "not -4"),
    ],
)
def test_command_refuses_bad_input(source_set: SourceSet, change: dict, reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        call_command("generate_stimuli", **{**COMMAND, **change})
    assert not StimulusSet.objects.exists()
    assert not Job.objects.exists()


def test_verification_passes_and_finds_damage(stimulus_set: StimulusSet, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match="no stimulus yet"):
        call_command("verify_stimuli", "noise")
    make_stimuli(stimulus_set, quiet)
    call_command("verify_stimuli", "noise")
    assert "88 stimuli verified, 88 made again with the same bytes" in capsys.readouterr().out
    call_command("verify_stimuli", "noise", sample=10)
    assert "10 stimuli verified" in capsys.readouterr().out
    gone, changed = Stimulus.objects.filter(corruption="gaussian_blur").order_by("key")[:2]
    media_path(gone.file).unlink()
    Image.fromarray(255 - np.asarray(Image.open(media_path(changed.file)))).save(media_path(changed.file))
    with pytest.raises(CommandError) as failure:
        call_command("verify_stimuli", "noise")
    assert f"1 missing: {gone.key}" in str(failure.value)
    assert f"1 altered: {changed.key}" in str(failure.value)
    with pytest.raises(CommandError, match="no stimulus set named 'other'"):
        call_command("verify_stimuli", "other")
    with pytest.raises(CommandError, match="1 or more"):
        call_command("verify_stimuli", "noise", sample=0)
