from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from analysis.tables.stimuli import stimuli_table
from humanexp.core.storage import media_path
from humanexp.stimuli.models import Sampling, SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.selectors.sets import manifest_rows
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generated_sets import make_stimuli, verify_stimuli
from humanexp.stimuli.services.generation import complete_stimulus_set, create_stimulus_set
from humanexp.stimuli.services.set_files import manifest_path

pytestmark = pytest.mark.django_db


def quiet(done: int, total: int, message: str = "") -> None:
    """A progress report that nobody reads."""


@pytest.fixture
def described(source_set: SourceSet) -> StimulusSet:
    wanted = {"corruptions": ["gaussian_noise", "gaussian_blur"], "count": 40, "seed": 3, "size_px": 112}
    return create_stimulus_set(Described(source_set=source_set, name="noise", **wanted))


@pytest.fixture
def stimulus_set(described: StimulusSet) -> StimulusSet:
    make_stimuli(described, quiet)
    return described


def test_an_untouched_set_passes(stimulus_set: StimulusSet, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("verify_stimuli", "noise")
    told = capsys.readouterr().out
    assert "88 stimuli verified, 88 made again with the same bytes" in told
    # VIF of a clean picture with itself is 1 but for rounding.
    assert re.search(r"largest difference 0 of 255 in a pixel, (0|[\d.]+e-1\d) in visual change", told)
    assert "manifest: 88 rows, all as in the database" in told


def test_bad_calls_are_refused(described: StimulusSet) -> None:
    for arguments, reason in (
        (["noise"], "no stimulus yet"),
        (["other"], "no stimulus set named 'other'"),
        (["noise", "--sample", "0"], "1 or more"),
    ):
        with pytest.raises(CommandError, match=reason):
            call_command("verify_stimuli", *arguments)


def test_a_sample_has_the_wanted_size_and_follows_its_seed(stimulus_set: StimulusSet) -> None:
    assert verify_stimuli(stimulus_set, sample=10).stimuli.checked == 10
    assert verify_stimuli(stimulus_set, sample=500).stimuli.checked == 88
    for path in media_path("stimuli/noise").rglob("*.png"):
        path.unlink()
    drawn = [verify_stimuli(stimulus_set, sample=10, seed=seed).stimuli.missing for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert [found.count for found in drawn] == [10, 10, 10]


def test_damage_is_named(stimulus_set: StimulusSet) -> None:
    gone, changed = Stimulus.objects.filter(corruption="gaussian_blur").order_by("key")[:2]
    media_path(gone.file).unlink()
    Image.fromarray(255 - np.asarray(Image.open(media_path(changed.file)))).save(media_path(changed.file))
    media_path("stimuli/noise/ab").mkdir(exist_ok=True)
    media_path("stimuli/noise/ab/stranger.png").write_bytes(b"stray")
    with pytest.raises(CommandError) as failure:
        call_command("verify_stimuli", "noise")
    assert f"1 missing: {gone.key}" in str(failure.value)
    assert f"1 altered: {changed.key}" in str(failure.value)
    assert "1 files belong to no stimulus, the first of them stimuli/noise/ab/stranger.png" in str(failure.value)


def test_a_manifest_that_is_gone_or_another_is_found(stimulus_set: StimulusSet) -> None:
    path = manifest_path(stimulus_set)
    rows = list(manifest_rows(stimulus_set))
    rows[5]["visual_change"] += 1e-12
    stimuli_table(1).write_rows(rows, path)
    problems = verify_stimuli(stimulus_set, sample=1).problems
    assert problems[0] == "the manifest is not the one that was written"
    assert problems[1] == f"1 rows of manifest and database differ, the first of them {rows[5]['stimulus']}"
    stimuli_table(1).write_rows(rows[:-1], path)
    assert "2 rows of manifest and database differ" in verify_stimuli(stimulus_set, sample=1).problems[1]
    path.write_bytes(b"no table")
    assert "cannot be read as a table" in verify_stimuli(stimulus_set, sample=1).problems[1]
    path.unlink()
    found = verify_stimuli(stimulus_set, sample=1)
    assert found.problems == ("the manifest is missing",)
    assert not found.passed
    with pytest.raises(CommandError, match="the manifest is missing"):
        call_command("verify_stimuli", "noise", sample=3)


def test_a_row_that_was_lost_is_found(stimulus_set: StimulusSet) -> None:
    Stimulus.objects.filter(corruption="gaussian_noise").first().delete()
    found = verify_stimuli(stimulus_set)
    assert not found.passed
    assert any("1 files belong to no stimulus" in problem for problem in found.problems)
    assert any("manifest and database differ" in problem for problem in found.problems)


def test_an_imported_set_is_measured_but_not_made_again(
    stimulus_set: StimulusSet, capsys: pytest.CaptureFixture[str]
) -> None:
    stimulus_set.sampling = Sampling.IMPORTED
    stimulus_set.save()
    stimulus_set.stimuli.exclude(corruption="none").update(corruption_version="imagenet-c", parameter=3, seed=0)
    complete_stimulus_set(stimulus_set=stimulus_set)
    call_command("verify_stimuli", "noise")
    assert "88 stimuli verified, imported, so none was made again" in capsys.readouterr().out
    wrong = stimulus_set.stimuli.filter(corruption="gaussian_noise").order_by("key").first()
    Stimulus.objects.filter(pk=wrong.pk).update(visual_change=abs(wrong.visual_change - 0.5))
    complete_stimulus_set(stimulus_set=stimulus_set)
    with pytest.raises(CommandError, match=f"1 different: {wrong.key}"):
        call_command("verify_stimuli", "noise")


def test_a_version_that_is_gone_is_told(stimulus_set: StimulusSet, capsys: pytest.CaptureFixture[str]) -> None:
    stimulus_set.stimuli.filter(corruption="gaussian_noise").update(corruption_version="0")
    complete_stimulus_set(stimulus_set=stimulus_set)
    call_command("verify_stimuli", "noise")
    told = capsys.readouterr().out
    assert "48 made again with the same bytes" in told
    assert "40 outdated" in told


def test_an_original_that_has_changed_is_told(stimulus_set: StimulusSet, picture_folder: Path) -> None:
    image = stimulus_set.source_set.images.get(key="cat-0")
    media_path(image.file).write_bytes((picture_folder / "dog" / "dog-0.png").read_bytes())
    with pytest.raises(CommandError, match="is not the one that was imported"):
        call_command("verify_stimuli", "noise")


def test_a_set_that_is_older_than_manifests_lacks_none(
    stimulus_set: StimulusSet, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest_path(stimulus_set).unlink()
    StimulusSet.objects.filter(pk=stimulus_set.pk).update(manifest_sha256="")
    call_command("verify_stimuli", stimulus_set.name, "--sample", "3")
    assert "manifest: none, the set is older than manifests" in capsys.readouterr().out
