"""Sets of small pictures, which are corrupted at their native size and shown enlarged."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from PIL import Image

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import TorchNetwork
from analysis.classifiers.port import decided
from analysis.corruptions import corrupt
from analysis.generation.files import decode_png
from analysis.native_size import enlarge, native_pixels
from analysis.tables.stimuli import STIMULI, stimuli_table
from analysis.visual_change.vif import visual_change
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path
from humanexp.evaluations.services.evaluations import evaluate
from humanexp.evaluations.services.prediction import rate_originals, shown_stimuli
from humanexp.evaluations.services.training_material import ShownExamples
from humanexp.jobs.runner import run_waiting
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.stimuli.pages.previews import picture_at
from humanexp.stimuli.selectors.sets import manifest
from humanexp.stimuli.selectors.sources import enlargement_of, enlargements
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generated_sets import make_stimuli, verify_stimuli
from humanexp.stimuli.services.generation import create_stimulus_set
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.set_files import check_manifest, manifest_lines
from humanexp.stimuli.services.sources import ImportOrder
from tests.analysis.classifiers import small_networks
from tests.analysis.generation.originals import write_originals

pytestmark = pytest.mark.django_db

WANTED: dict[str, Any] = {"corruptions": ["gaussian_noise"], "count": 12, "seed": 3, "size_px": 224, "enlarged": 7}


def quiet(done: int, total: int, message: str = "") -> None:
    """A progress report that nobody reads."""


@pytest.fixture
def small(tmp_path: Path) -> SourceSet:
    """Five pictures of 32 x 32 px."""
    write_originals(tmp_path / "small", {"cat": 3, "dog": 2}, size_px=32)
    return import_images(source=tmp_path / "small", order=ImportOrder(name="small")).source_set


@pytest.fixture
def stimulus_set(small: SourceSet) -> StimulusSet:
    made = create_stimulus_set(Described(source_set=small, name="tiny", **WANTED))
    make_stimuli(made, quiet)
    made.refresh_from_db()
    return made


def check(made: StimulusSet) -> None:
    """Every file is the enlarged corruption of native pixels, measured as it is shown."""
    assert made.native_px * made.enlarged == made.size_px == 224
    for stimulus in made.stimuli.select_related("source_image"):
        with Image.open(media_path(stimulus.source_image.file)) as file:
            clean = np.asarray(file.convert("RGB"))
        shown = decode_png(media_path(stimulus.file).read_bytes())
        changed = corrupt(clean, stimulus.corruption, stimulus.parameter, stimulus.seed)
        assert np.array_equal(native_pixels(shown, made.enlarged), changed)
        assert np.array_equal(shown, enlarge(changed, made.enlarged))
        expected = visual_change(enlarge(clean, made.enlarged), shown)
        assert stimulus.visual_change == pytest.approx(expected, abs=1e-9)


def test_a_set_of_small_pictures_is_made_verified_and_made_again(stimulus_set: StimulusSet) -> None:
    check(stimulus_set)
    found = verify_stimuli(stimulus_set)
    assert found.passed and found.stimuli.identical == found.manifest_rows == 5 + 12
    before = {one.key: one.sha256 for one in stimulus_set.stimuli.all()}
    first = stimulus_set.stimuli.exclude(corruption="none").first()
    assert first is not None
    media_path(first.file).unlink()
    assert verify_stimuli(stimulus_set).stimuli.missing.names == (first.key,)
    make_stimuli(stimulus_set, quiet)
    assert {one.key: one.sha256 for one in stimulus_set.stimuli.all()} == before
    assert verify_stimuli(stimulus_set).passed


def test_manifest_and_exports_name_the_factor_of_these_sets_alone(
    stimulus_set: StimulusSet, source_set: SourceSet
) -> None:
    frame = STIMULI.read(media_path("stimuli/tiny/manifest.parquet"))
    assert set(frame["enlarged"]) == {7} and set(frame["size_px"]) == {224}
    assert set(manifest(stimulus_set)["enlarged"]) == {7}
    assert next(iter(manifest_lines(stimulus_set))).split(",")[11] == "enlarged"
    plain = create_stimulus_set(
        Described(source_set=source_set, name="plain", **{**WANTED, "enlarged": 1, "size_px": 112})
    )
    make_stimuli(plain, quiet)
    # The manifest of other sets has the bytes that it always had.
    assert "enlarged" not in pq.read_schema(media_path("stimuli/plain/manifest.parquet")).names
    assert "enlarged" not in manifest(plain) and "enlarged" not in next(iter(manifest_lines(plain)))
    assert STIMULI.read(media_path("stimuli/plain/manifest.parquet"))["enlarged"].isna().all()
    assert stimuli_table(1).names == [name for name in STIMULI.names if name != "enlarged"]


def test_a_set_that_has_lost_its_factor_is_found(stimulus_set: StimulusSet) -> None:
    StimulusSet.objects.filter(pk=stimulus_set.pk).update(enlarged=1)
    stimulus_set.refresh_from_db()
    assert any("columns are not those" in problem for problem in check_manifest(stimulus_set).problems)
    StimulusSet.objects.filter(pk=stimulus_set.pk).update(enlarged=14)
    stimulus_set.refresh_from_db()
    found = check_manifest(stimulus_set).problems
    assert any("17 rows of manifest and database differ" in problem for problem in found)


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"enlarged": 8}, "enlarged", r"5 pictures of small do not have 28 x 28 px, for example cat-0 \(32 x 32 px\)"),
        ({"enlarged": 8}, "enlarged", "All have 32 x 32 px: show them enlarged 7 times at 224 px"),
        ({"size_px": 225}, "enlarged", "no multiple of 7.*choose 224 px or 231 px"),
        ({"size_px": 64, "enlarged": 2}, "enlarged", "32 x 32 px 3 times, to 96 px"),
        ({"enlarged": 0}, "enlarged", "by a whole number from 1"),
        ({"enlarge": True}, "enlarge", "leave out “Enlarge small pictures”"),
        ({"framing": "imagenet"}, "framing", "used whole"),
        ({"sampling": "imagenet-c-levels", "count": 0}, "sampling", "published for pictures of 224 px"),
        ({"enlarged": 1}, "size_px", r"too small to be shown at 224 px.*--enlarged 7 --size 224"),
        ({"enlarged": 35, "size_px": 1120}, "size_px", "between 96 and 1024"),
    ],
)
def test_sets_that_cannot_be_are_refused(small: SourceSet, change: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason) as refused:
        create_stimulus_set(Described(**{"source_set": small, "name": "x", **WANTED, **change}))
    assert list(refused.value.fields) == [field]
    small.refresh_from_db()
    assert not StimulusSet.objects.exists() and small.frozen_at is None


def test_cue_conflicts_must_have_the_native_size_too(small: SourceSet, tmp_path: Path) -> None:
    (conflicts,) = write_originals(tmp_path / "drawn", {"cat": 1}, size_px=64)
    folder = tmp_path / "conflicts" / "cat"
    folder.mkdir(parents=True)
    Path(conflicts.path).rename(folder / "cat1-dog1.png")
    brought = import_images(source=tmp_path / "conflicts", order=ImportOrder(name="cues")).source_set
    with pytest.raises(InvalidRequest, match=r"1 pictures of cues do not have 32 x 32 px, for example .*64 x 64 px"):
        create_stimulus_set(Described(source_set=small, name="x", cue_conflicts=brought, **WANTED))


def test_a_factor_is_suggested_for_small_squares_of_one_size(
    small: SourceSet, source_set: SourceSet, tmp_path: Path
) -> None:
    found = enlargement_of(small)
    assert found is not None and (found.native_px, found.enlarged, found.size_px) == (32, 7, 224)
    assert enlargement_of(source_set) is None, "pictures of 128 px are scaled"
    assert enlargements([small, source_set]) == {small.pk: found}
    small.images.filter(key="dog-1").update(height_px=31)
    assert enlargement_of(small) is None
    small.images.filter(key="dog-1").update(height_px=None)
    assert enlargement_of(small) is None


def test_a_network_of_the_native_size_answers_as_to_native_pictures(stimulus_set: StimulusSet, tmp_path: Path) -> None:
    spec = f"export:{small_networks.export_file(tmp_path / 'a.pt2')}"
    run, _ = evaluate(stimulus_set=stimulus_set, spec=spec, name="small")
    run_waiting()
    run.refresh_from_db()
    rows = pd.read_parquet(media_path(run.predictions_file)).set_index("stimulus")
    network = load_classifier(spec)
    assert isinstance(network, TorchNetwork)
    stimuli = list(stimulus_set.stimuli.order_by("key"))
    native = []
    for one in stimuli:
        with Image.open(media_path(one.source_image.file)) as file:
            clean = np.asarray(file.convert("RGB"))
        native.append(corrupt(clean, one.corruption, one.parameter, one.seed))
    names = [one.key for one in stimuli]
    decisions = decided(network, names, network.predict(np.stack(native)))
    assert rows.loc[names, "confidence"].tolist() == decisions.confidence.tolist()
    assert rows.loc[names, "response"].tolist() == decisions.responses.tolist()
    # What it is trained on are the same pixels.
    examples = ShownExamples(list(shown_stimuli(stimulus_set)), network, stimulus_set.source_set.space)
    pictures, _ = examples.batch(np.arange(len(names)))
    assert np.array_equal(pictures, np.stack(native))


def test_gold_pictures_are_chosen_by_native_pixels(small: SourceSet, tmp_path: Path) -> None:
    spec = f"export:{small_networks.export_file(tmp_path / 'a.pt2')}"
    rate_originals(small, [spec], quiet, allow_code=False, device="cpu")
    network = load_classifier(spec)
    assert isinstance(network, TorchNetwork)
    for image in small.images.all():
        with Image.open(media_path(image.file)) as file:
            probabilities = network.predict(np.array(file.convert("RGB"))[None])[0]
        own = probabilities[network.labels.index(image.category)] / probabilities.sum()
        assert image.smallest_probability == pytest.approx(float(own), abs=1e-6)
        named = network.labels[int(probabilities.argmax())]
        assert (image.classifiers_asked, image.classifiers_agreeing) == (1, int(named == image.category))


def test_the_command_makes_such_a_set(small: SourceSet, capsys: pytest.CaptureFixture[str]) -> None:
    asked = {"images": "small", "corruption": "gaussian_noise", "count": 6, "name": "tiny", "enlarged": 7}
    call_command("generate_stimuli", **asked)
    assert "tiny: 6 stimuli and 5 clean pictures" in capsys.readouterr().out
    made = StimulusSet.objects.get()
    assert (made.size_px, made.enlarged, made.native_px) == (224, 7, 32)
    call_command("generate_stimuli", **asked)
    with pytest.raises(CommandError, match="another enlarged: choose another name"):
        call_command("generate_stimuli", **{**asked, "enlarged": 1})
    with pytest.raises(CommandError, match="32 x 32 px"):
        call_command("generate_stimuli", **{**asked, "name": "other", "enlarged": 8})


#: Folders of categories, of which this product's default set has those names or not.
PUBLISHED = {"cifar10": (("airplane", "cat", "dog"), 7), "mnist": (("3", "7"), 8)}


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_published_small_pictures(name: str, tmp_path: Path) -> None:
    classes, enlarged = PUBLISHED[name]
    archive = Path(os.environ.get("REFERENCE_DATA", "/nonexistent")) / name / "test.zip"
    if not archive.is_file():
        pytest.skip(f"REFERENCE_DATA holds no {name}")
    with zipfile.ZipFile(archive) as files:
        for place, one in enumerate(classes):
            # Digits are no category of the default set: what is measured here does not ask for the label.
            folder = tmp_path / "pictures" / ("airplane", "cat", "dog")[place]
            folder.mkdir(parents=True)
            for member in sorted(member for member in files.namelist() if member.startswith(f"{one}/"))[:3]:
                (folder / Path(member).name).write_bytes(files.read(member))
    source_set = import_images(source=tmp_path / "pictures", order=ImportOrder(name=name)).source_set
    found = enlargement_of(source_set)
    assert found is not None and (found.enlarged, found.size_px) == (enlarged, 224)
    wanted = {"corruptions": ["gaussian_blur", "frost"], "count": 10, "enlarged": found.enlarged}
    made = create_stimulus_set(Described(source_set=source_set, name=name, **wanted))
    make_stimuli(made, quiet)
    made.refresh_from_db()
    check(made)
    assert verify_stimuli(made).passed
    assert made.stimuli.filter(reached=True).count() >= 0.9 * made.stimuli.count()


def test_the_form_suggests_factor_and_size_and_makes_the_set(small: SourceSet, researcher: Client) -> None:
    page = researcher.get("/stimuli/new/").content.decode()
    assert f'data-suggested="{{&quot;{small.pk}&quot;: [224, 7]}}"' in page
    assert re.search(r'name="enlarged" value="7"', page)
    shown = researcher.get(f"/stimuli/new/examples/gaussian_noise/?source_set={small.pk}")
    picture = decode_png(shown.content)
    assert picture.shape == (224, 224, 3) and np.array_equal(picture, enlarge(native_pixels(picture, 7), 7))
    filled = {
        "source_set": small.pk, "name": "tiny", "corruptions": ["gaussian_noise"],
        "count": 4, "size_px": 224, "seed": 0,
    }  # fmt: skip
    for wrong, sentence in (({"enlarged": 8}, "show them enlarged 7 times"), ({}, "--enlarged 7 --size 224")):
        refused = researcher.post("/stimuli/new/", filled | wrong)
        assert refused.status_code == 422 and sentence in refused.content.decode()
        estimated = researcher.get("/stimuli/new/estimate/", filled | wrong)
        assert estimated.status_code == 200 and sentence in estimated.content.decode()
    assert "9 stimuli" in researcher.get("/stimuli/new/estimate/", filled | {"enlarged": 7}).content.decode()
    assert researcher.post("/stimuli/new/", filled | {"enlarged": 7}).status_code == 302
    run_waiting()
    made = StimulusSet.objects.get()
    assert made.completed_at is not None and made.enlarged == 7
    page = researcher.get("/stimuli/sets/tiny/").content.decode()
    assert "enlarged 7 times from 32 × 32 px" in page
    assert researcher.get("/stimuli/sets/tiny/coverage.json").json()["enlarged"] == 7


def test_pictures_at_a_visual_change_are_made_of_native_pixels(stimulus_set: StimulusSet) -> None:
    image = stimulus_set.source_set.images.order_by("key").first()
    assert image is not None
    step = picture_at(stimulus_set, image, "gaussian_noise", 0.5)
    assert step.png is not None and step.is_reached
    shown = decode_png(step.png)
    assert np.array_equal(shown, enlarge(native_pixels(shown, 7), 7))
