"""The command that fits a readout, what it refuses, and evaluations by what it wrote."""

from __future__ import annotations

import hashlib
from io import StringIO
from pathlib import Path

import cv2
import pytest
from django.core.management import CommandError, call_command

from analysis.classifiers.readout import Readout
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path
from humanexp.evaluations.services.evaluations import evaluate, select_gold
from humanexp.evaluations.specs import SHELF, check_safe, check_spec, check_trainable, default_name, shelf_specs
from humanexp.jobs import runner
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.label_sets import store_labels
from humanexp.stimuli.services.sources import ImportOrder
from tests.analysis.classifiers import small_networks as small
from tests.evaluations.sets import picture_set
from tests.evaluations.test_training import SPACE, written

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bars(settings, tmp_path: Path) -> Path:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"
    store_labels(SPACE)
    for name, n, seed in (("bars", 24, 0), ("others", 20, 1)):
        import_images(source=written(tmp_path / name, n, seed, side=64), order=ImportOrder(name=name, labels="bars"))
    small.export_file(tmp_path / "net.pt2")
    return tmp_path


def fitted(folder: Path, *more: str, images: tuple[str, ...] = ("--images", "bars")) -> str:
    told = StringIO()
    call_command(
        "fit_readout", *images, "--classifier", f"export:{folder / 'net.pt2'}", "--out", str(folder / "bars.npz"),
        *more, stdout=told, stderr=StringIO(),
    )  # fmt: skip
    return told.getvalue()


def test_it_prints_and_keeps_what_it_was_fitted_on(bars: Path) -> None:
    told = fitted(bars, "--test", "others", "--seed", "3")
    made = Readout.read(bars / "bars.npz")
    assert "2 labels of bars, read from export:" in told
    assert "at penultimate (the input of the last linear layer, 512 numbers), fitted on 24 pictures" in told
    held_out = made.held_out
    assert f"Held-out accuracy: {held_out.n_right} of 24, {held_out}" in told and held_out.seed == 3
    assert held_out.accuracy > 0.6 and "others: " in told and "of 20 pictures named right" in told
    assert (made.labels, made.labels_identity) == (("lying", "upright"), SPACE.identity)
    assert made.learned == set(
        SourceImage.objects.filter(source_set__name="bars").values_list("pixel_sha256", flat=True)
    )


def test_evaluations_take_it_and_say_what_it_is(bars: Path) -> None:
    fitted(bars)
    stimuli = picture_set("shown", {"lying": 2, "upright": 2}, space=SPACE)
    told = StringIO()
    spec = f"readout:{bars / 'bars.npz'}"
    call_command("evaluate", "--stimuli", "shown", "--classifier", spec, stdout=told, stderr=StringIO())
    run = stimuli.evaluations.get()
    assert (run.name, run.label_space, run.labels_identity) == ("bars", 2, SPACE.identity)
    assert run.classifier_digest == Readout.read(bars / "bars.npz").digest
    assert run.versions["readout"].startswith("of export:net.pt2@penultimate, fitted on 24 pictures, held-out accuracy")
    assert f"readout {run.versions['readout']}" in told.getvalue()


def test_it_is_not_tested_on_what_it_has_learned_from(bars: Path) -> None:
    fitted(bars)
    stimuli = picture_set("shown", {"lying": 2, "upright": 2}, space=SPACE)
    learned = SourceImage.objects.filter(source_set__name="bars").first()
    assert learned is not None
    SourceImage.objects.filter(source_set=stimuli.source_set, key="lying-1").update(pixel_sha256=learned.pixel_sha256)
    spec = f"readout:{bars / 'bars.npz'}"
    with pytest.raises(CommandError, match=r"bars has learned from 1 of these pictures, .* \(the first is lying-1\)"):
        call_command("evaluate", "--stimuli", "shown", "--classifier", spec, stdout=StringIO(), stderr=StringIO())
    assert stimuli.evaluations.get().completed_at is None
    job = select_gold(source_set=SourceSet.objects.get(name="bars"), specs=[spec])
    runner.run_waiting()
    job.refresh_from_db()
    assert "has learned from 24 of these pictures" in job.error


def test_pictures_without_a_stored_digest_of_pixels_are_looked_at(bars: Path) -> None:
    """As those of published experiments, whose files are written anew."""
    fitted(bars)
    stimuli = picture_set("shown", {"lying": 2, "upright": 2}, space=SPACE)
    learned = SourceImage.objects.filter(source_set__name="bars").first()
    assert learned is not None
    content = cv2.imencode(".png", cv2.imread(str(media_path(learned.file))), [cv2.IMWRITE_PNG_COMPRESSION, 1])[1]
    image = SourceImage.objects.get(source_set=stimuli.source_set, key="lying-1")
    media_path(image.file).write_bytes(content.tobytes())
    digest = hashlib.sha256(content.tobytes()).hexdigest()
    assert digest != learned.sha256
    SourceImage.objects.filter(pk=image.pk).update(pixel_sha256="", sha256=digest)
    with pytest.raises(CommandError, match="has learned from 1 of these pictures"):
        call_command(
            "evaluate", "--stimuli", "shown", "--classifier", f"readout:{bars / 'bars.npz'}", stdout=StringIO(),
            stderr=StringIO(),
        )  # fmt: skip


def test_a_folder_is_read_as_an_import_reads_it(bars: Path) -> None:
    folder = ("--folder", str(bars / "bars"), "--label-space", "bars")
    told = fitted(bars, images=folder)
    by_folder = Readout.read(bars / "bars.npz")
    (bars / "bars.npz").unlink()
    assert told == fitted(bars)
    assert by_folder.digest == Readout.read(bars / "bars.npz").digest


@pytest.mark.parametrize("place", ["bars/set.toml", "set.toml"])
def test_pictures_for_tests_alone_are_refused(bars: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bars)
    folder = ("--folder", "bars", "--label-space", "bars")
    (bars / place).write_text('name = "bars"\nversion = "1"\nuse = "no-redistribution"\n')
    fitted(bars, images=folder)
    (bars / "bars.npz").unlink()
    (bars / place).write_text('name = "bars"\nversion = "1"\nuse = "test-only"\n')
    with pytest.raises(CommandError, match=r"bars is for tests alone, says the set.toml beside it"):
        fitted(bars, images=folder)
    # What is imported from there keeps the rule, and so do the same pictures that were imported before.
    import_images(source=bars / "bars", order=ImportOrder(name="again", labels="bars"))
    for images in (("--images", "again"), ("--images", "bars")):
        with pytest.raises(CommandError, match="belong to again, whose author allows tests alone"):
            fitted(bars, images=images)
    (bars / place).write_text('name = "bars"\nuse = "test-only"\n')
    with pytest.raises(CommandError, match="The set lacks 'version'"):
        fitted(bars, images=folder)
    assert not (bars / "bars.npz").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--test", "bars"), "24 originals of evaluation are originals of training too"),
        (("--test", "pets"), "The pictures pets have the labels entry16, and those of bars bars"),
        (("--layer", "layer4"), "has no layer 'layer4'; there are: penultimate, 0, 1, 2, 3"),
        (("--out", "bars.pt2"), "name a .npz file"),
        (("--images", "half"), "no pictures of upright"),
        (("--images", "nothing"), "no set of pictures named 'nothing'"),
        (("--classifier", "onnx:net.onnx"), "net.onnx: there is no such program"),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_anything_is_written(
    bars: Path, more: tuple[str, ...], message: str
) -> None:
    picture_set("pets")
    picture_set("half", {"lying": 4}, space=SPACE)
    with pytest.raises(CommandError, match=message):
        fitted(bars, *more)
    assert not (bars / "bars.npz").exists()


def test_an_onnx_network_and_answers_on_record_have_no_layers(bars: Path) -> None:
    spec = f"onnx:{small.onnx_file(bars / 'net.onnx')}"
    with pytest.raises(CommandError, match="is no torch network, so its layers cannot be read: use lite:"):
        fitted(bars, "--classifier", spec)


def test_the_console_takes_readouts_of_the_shelf_alone(bars: Path) -> None:
    shelf = bars / "media" / SHELF
    shelf.mkdir()
    fitted(bars)
    for name in ("net.pt2", "net.json", "bars.npz"):
        (bars / name).rename(shelf / name)
    assert f"readout:{shelf / 'bars.npz'}" in shelf_specs()
    assert check_safe("readout:bars.npz") == check_spec("readout:bars.npz") == f"readout:{shelf / 'bars.npz'}"
    assert default_name("readout:bars.npz") == "bars"
    with pytest.raises(InvalidRequest, match="files in the server's shelf"):
        check_safe("readout:/elsewhere/bars.npz")
    with pytest.raises(InvalidRequest, match="train that network, then fit a readout again"):
        check_trainable("readout:bars.npz")
    stimuli = picture_set("shown", {"lying": 2, "upright": 2}, space=SPACE)
    run, _job = evaluate(stimulus_set=stimuli, spec="readout:bars.npz")
    runner.run_waiting()
    run.refresh_from_db()
    assert run.completed_at is not None
