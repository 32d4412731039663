from __future__ import annotations

import hashlib
import sys
import time
import time as runner
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from analysis.corruptions import CORRUPTIONS, corrupt, load_modules
from analysis.generation.originals import prepare_original
from analysis.tables.stimuli import STIMULI
from analysis.visual_change.vif import visual_change
from humanexp.core.errors import InvalidRequest, JobCancelled
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job, JobState
from humanexp.jobs.runner import run_one, run_waiting
from humanexp.stimuli.models import SourceImage, SourceSet, StimulusSet
from humanexp.stimuli.selectors.sets import manifest, stimuli_of_curves
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generated_sets import make_stimuli, verify_stimuli
from humanexp.stimuli.services.generation import complete_stimulus_set, create_stimulus_set, start_generation

pytestmark = pytest.mark.django_db

WANTED = {"corruptions": ["gaussian_noise", "gaussian_blur"], "count": 40, "seed": 3, "size_px": 112}


@pytest.fixture
def stimulus_set(source_set: SourceSet) -> StimulusSet:
    return create_stimulus_set(Described(source_set=source_set, name="noise", **WANTED))


def made(stimulus_set: StimulusSet) -> dict[str, tuple]:
    return {s.key: (s.corruption, s.parameter, s.visual_change, s.sha256) for s in stimulus_set.stimuli.all()}


def quiet(done: int, total: int, message: str = "") -> None:
    """A progress report that nobody reads."""


def test_a_job_makes_files_and_rows(stimulus_set: StimulusSet) -> None:
    job = start_generation(stimulus_set=stimulus_set)
    assert start_generation(stimulus_set=stimulus_set) == job
    run_waiting()
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


@pytest.mark.parametrize("sampling", ["even", "uniform"])
def test_a_set_holds_what_practice_and_plain_pairs_show(source_set: SourceSet, sampling: str) -> None:
    wanted = {**WANTED, "count": 8, "sampling": sampling}
    plainly = create_stimulus_set(Described(source_set=source_set, name="both", with_plain=True, **wanted))
    assert len(plainly.plain_functions) == 2 and not {*plainly.plain_functions} & {*plainly.corruptions}
    make_stimuli(plainly, quiet)
    plainly.refresh_from_db()
    for name in plainly.plain_functions:
        held = plainly.stimuli.filter(corruption=name)
        assert held.count() == held.values("source_image").distinct().count() == 8
        assert all(abs(one.visual_change - 0.6) <= 0.025 for one in held if one.reached)
        assert sum(one.reached for one in held) >= 7
    assert list(plainly.coverage) == plainly.corruptions
    asked = {one.corruption for one in stimuli_of_curves(plainly)}
    assert asked == {"none", *plainly.corruptions}
    bare = create_stimulus_set(Described(source_set=source_set, name="bare", **wanted))
    make_stimuli(bare, quiet)
    assert made(bare).items() <= made(plainly).items()


def test_a_set_of_all_functions_has_none_left_for_plain_pairs(source_set: SourceSet) -> None:
    with pytest.raises(InvalidRequest, match="No two plainly different functions remain") as refused:
        create_stimulus_set(
            Described(
                source_set=source_set, name="all", with_plain=True, **{**WANTED, "corruptions": list(CORRUPTIONS)}
            )
        )
    assert list(refused.value.fields) == ["with_plain"]


def test_a_complete_set_knows_its_coverage(stimulus_set: StimulusSet) -> None:
    make_stimuli(stimulus_set, quiet)
    stimulus_set.refresh_from_db()
    assert list(stimulus_set.coverage) == stimulus_set.corruptions
    for name, report in stimulus_set.coverage.items():
        of_function = list(stimulus_set.stimuli.filter(corruption=name))
        changes = [stimulus.visual_change for stimulus in of_function]
        assert report["n"] == sum(report["ours"]["counts"]) == sum(report["paper"]["counts"]) == 40
        assert report["ours"]["counts"] == np.histogram(changes, bins=40, range=(0, 1))[0].tolist()
        missed = [stimulus for stimulus in of_function if not stimulus.reached]
        assert report["missed"] == len(missed)
        assert report["unreachable"] == sum(
            not stimulus.reach_low <= stimulus.target <= stimulus.reach_high for stimulus in missed
        )
        assert report["tries"] == pytest.approx(np.mean([stimulus.evaluations for stimulus in of_function]))


def test_the_manifest_beside_the_stimuli_is_the_table(stimulus_set: StimulusSet) -> None:
    make_stimuli(stimulus_set, quiet)
    stimulus_set.refresh_from_db()
    path = media_path("stimuli/noise/manifest.parquet")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == stimulus_set.manifest_sha256
    frame = STIMULI.read(path)
    assert len(frame) == 88
    for row in frame.itertuples():
        assert hashlib.sha256(media_path(row.file).read_bytes()).hexdigest() == row.sha256
    # Nothing but the stimuli and the manifest is in the folder, and writing it again gives the same bytes.
    assert sum(found.is_file() for found in path.parent.rglob("*")) == 89
    again = complete_stimulus_set(stimulus_set=stimulus_set)
    assert again.manifest_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert StimulusSet.objects.get().manifest_sha256 == again.manifest_sha256


@pytest.mark.parametrize(
    ("change", "n_stimuli"),
    [
        ({"sampling": "uniform", "count": 20}, 2 * 20 + 8),
        ({"sampling": "uniform-parameter", "count": 20}, 2 * 20 + 8),
        ({"sampling": "imagenet-c-levels", "count": 0, "framing": "imagenet"}, 2 * 5 * 8 + 8),
    ],
)
def test_other_samplings_take_the_same_way(source_set: SourceSet, change: dict, n_stimuli: int) -> None:
    stimulus_set = create_stimulus_set(Described(source_set=source_set, name="x", **{**WANTED, **change}))
    assert make_stimuli(stimulus_set, quiet) == n_stimuli
    stimulus_set.refresh_from_db()
    assert stimulus_set.pilots == {}
    assert stimulus_set.completed_at is not None
    corrupted = stimulus_set.stimuli.exclude(corruption="none")
    assert corrupted.filter(target=None, evaluations=1, reached=True).count() == n_stimuli - 8
    for stimulus in corrupted.select_related("source_image")[:10]:
        original = prepare_original(media_path(stimulus.source_image.file), 112, stimulus_set.framing)
        again = corrupt(
            original, stimulus.corruption, stimulus.parameter, stimulus.seed, version=stimulus.corruption_version
        )
        shown = np.asarray(Image.open(media_path(stimulus.file)))
        assert np.array_equal(shown, again)
        assert stimulus.visual_change == visual_change(original, shown)
    if change["sampling"] == "imagenet-c-levels":
        assert set(corrupted.values_list("parameter", flat=True)) == {1, 2, 3, 4, 5}
        assert set(corrupted.values_list("corruption_version", flat=True)) == {"imagenet-c-1"}
    assert verify_stimuli(stimulus_set).passed


OWN_FUNCTION = """
from __future__ import annotations
from analysis.corruptions.registry import Corruption; from analysis.corruptions import register

def _darken(intensities, parameter, seed):
    return intensities * (1 - parameter)

register(Corruption(
    name="darken", label="Darken", family="own", version="1", low=0.0, high=1.0, scale="linear",
    unit="share of intensity that is lost", function=_darken,
))
"""


@pytest.mark.process
def test_functions_of_the_users_own_are_known_in_other_processes(
    source_set: SourceSet,
    settings,  # noqa: ANN001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "own_corruptions.py").write_text(OWN_FUNCTION)
    monkeypatch.syspath_prepend(tmp_path)
    known = dict(CORRUPTIONS)
    settings.CORRUPTION_MODULES = ["own_corruptions"]
    settings.COMPUTE = "processes:1"
    try:
        load_modules(settings.CORRUPTION_MODULES)
        stimulus_set = create_stimulus_set(
            Described(source_set=source_set, name="own", corruptions=["darken"], count=20, size_px=112)
        )
        assert make_stimuli(stimulus_set, quiet) == 28
        assert verify_stimuli(stimulus_set).stimuli.identical == 28
    finally:
        CORRUPTIONS.clear()
        CORRUPTIONS.update(known)
        sys.modules.pop("own_corruptions")


@pytest.mark.bench
def test_a_cancelled_job_does_not_wait_for_its_children(stimulus_set: StimulusSet, settings) -> None:  # noqa: ANN001
    settings.COMPUTE = "processes:2"
    stimulus_set.count_per_corruption = 100_000  # a plan like this takes minutes
    stopped_at = []

    def cancel(done: int, total: int, message: str = "") -> None:
        if done:
            stopped_at.append(time.monotonic())
            raise JobCancelled

    with pytest.raises(JobCancelled):
        make_stimuli(stimulus_set, cancel)
    assert time.monotonic() - stopped_at[0] < 2.0


def test_the_manifest_is_a_valid_table(stimulus_set: StimulusSet) -> None:
    make_stimuli(stimulus_set, quiet)
    frame = manifest(stimulus_set)
    assert len(STIMULI.validate(frame, source="manifest")) == 88
    assert set(frame["original"]) == set(stimulus_set.source_set.images.values_list("key", flat=True))
    assert all(media_path(file).is_file() for file in frame["file"])


@pytest.mark.process
def test_children_make_the_same_as_this_process(stimulus_set: StimulusSet, source_set: SourceSet, settings) -> None:  # noqa: ANN001
    make_stimuli(stimulus_set, quiet)
    settings.COMPUTE = "processes:2"
    other = create_stimulus_set(Described(source_set=source_set, name="again", **WANTED))
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
    monkeypatch.setattr(runner, "monotonic", iter(range(0, 100_000, 10)).__next__)  # every report is written
    job = start_generation(stimulus_set=stimulus_set)
    claimed = jobs.claim(runner="here")
    Job.objects.filter(pk=job.pk).update(cancel_requested=True)
    run_one(claimed, "here")
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    resumed = start_generation(stimulus_set=stimulus_set)
    assert resumed.pk == job.pk
    run_waiting()
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
    job = start_generation(stimulus_set=stimulus_set)
    run_waiting()
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
        ({"sampling": "random"}, "choose from even, uniform, uniform-parameter, imagenet-c-levels"),
        ({"sampling": "imported"}, "no sampling 'imported'"),
        ({"framing": "half"}, "choose from whole, imagenet"),
        ({"sampling": "imagenet-c-levels"}, "leave the number of stimuli out"),
        ({"sampling": "imagenet-c-levels", "count": 0, "corruptions": ["median_blur"]}, "No levels of median_blur"),
        ({"framing": "imagenet", "size_px": 250}, "8 pictures of pets are too small"),
        ({"name": "two words"}, "cannot be a name"),
    ],
)
def test_impossible_sets_are_refused(source_set: SourceSet, change: dict, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        create_stimulus_set(Described(**{"source_set": source_set, "name": "x", **WANTED, **change}))
    assert not StimulusSet.objects.exists()
    source_set.refresh_from_db()
    assert source_set.frozen_at is None


COMMAND = {"images": "pets", "corruption": "gaussian_noise,gaussian_blur", "count": 24, "size": 112, "name": "noise"}


def test_commands_say_whose_their_pictures_and_stimuli_are(picture_folder: Path, db: None) -> None:
    ada = User.objects.create_user("ada")
    call_command("import_images", str(picture_folder), name="pets", owner="ada")
    call_command("generate_stimuli", **COMMAND, owner="ada")
    assert SourceSet.objects.get().created_by == StimulusSet.objects.get().created_by == ada
    with pytest.raises(CommandError, match="No one here has an account 'bob'"):
        call_command("generate_stimuli", **{**COMMAND, "name": "more"}, owner="bob")
    assert StimulusSet.objects.count() == 1


def test_command_makes_a_set_and_a_second_call_finds_it_done(
    source_set: SourceSet, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("generate_stimuli", **COMMAND)
    told = capsys.readouterr().out
    assert "noise: 48 stimuli and 8 clean pictures" in told
    assert "gaussian_blur: 24 stimuli" in told and "with at least 1, their even share" in told
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
        ({"count": None}, "with --count N; even needs it"),
        ({"sampling": "some"}, "no sampling 'some'"),
        ({"sampling": "imagenet-c-levels"}, "leave the number of stimuli out"),
        ({"sampling": "imagenet-c-levels", "count": None, "corruption": "median_blur"}, "choose from brightness"),
        ({"framing": "some"}, "no framing 'some'"),
    ],
)
def test_command_refuses_bad_input(source_set: SourceSet, change: dict, reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        call_command("generate_stimuli", **{**COMMAND, **change})
    assert not StimulusSet.objects.exists()
    assert not Job.objects.exists()


def test_command_makes_all_functions_at_the_published_levels(
    source_set: SourceSet, capsys: pytest.CaptureFixture[str]
) -> None:
    source_set.images.exclude(key__in=["cat-0", "dog-1"]).delete()
    levels = {**COMMAND, "corruption": "all", "count": None, "sampling": "imagenet-c-levels", "framing": "imagenet"}
    call_command("generate_stimuli", **levels)
    assert "noise: 90 stimuli and 2 clean pictures" in capsys.readouterr().out
    made_by = StimulusSet.objects.get()
    assert len(made_by.corruptions) == 9
    assert (made_by.count_per_corruption, made_by.sampling, made_by.framing) == (0, "imagenet-c-levels", "imagenet")
    with pytest.raises(CommandError, match="another framing"):
        call_command("generate_stimuli", **{**levels, "framing": "whole"})


def test_small_pictures_are_enlarged_only_on_purpose(source_set: SourceSet) -> None:
    """An enlarged picture is blurred before any corruption."""
    image = source_set.images.order_by("key").first()
    source_set.images.filter(pk=image.pk).update(width_px=132, height_px=200)
    described = {**WANTED, "size_px": 160}
    with pytest.raises(InvalidRequest, match=r"8 of 8 pictures .*132 x 200 px.*--enlarge") as refusal:
        create_stimulus_set(Described(source_set=source_set, name="small", **described))
    assert set(refusal.value.fields) == {"enlarge"} and not StimulusSet.objects.filter(name="small").exists()
    assert create_stimulus_set(Described(source_set=source_set, name="small", enlarge=True, **described)).size_px == 160
