"""The command that trains a small network on a set of pictures, and what it refuses."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from analysis.labels.files import shipped
from analysis.labels.space import Label, LabelSpace
from analysis.retraining.training import Recipe
from humanexp.core.errors import InvalidRequest
from humanexp.evaluations.models import Retraining
from humanexp.evaluations.services import retraining
from humanexp.evaluations.services.retraining import Wanted, describe
from humanexp.stimuli.models import SourceImage
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.label_sets import store_labels
from humanexp.stimuli.services.sources import ImportOrder
from tests.analysis.classifiers import small_networks as small
from tests.evaluations.sets import picture_set

pytestmark = pytest.mark.django_db(transaction=True)
SPACE = LabelSpace(name="bars", labels=(Label(id="upright"), Label(id="lying")))


def written(folder: Path, n: int, seed: int, side: int = 16) -> Path:
    """Pictures of a bright bar at a random place, upright or lying."""
    rng = np.random.default_rng(seed)
    for number in range(n):
        label = ("upright", "lying")[number % 2]
        picture = rng.integers(0, 60, (side, side, 3)).astype(np.uint8)
        at = int(rng.integers(2, side - 4))
        if label == "upright":
            picture[:, at : at + 2] = 220
        else:
            picture[at : at + 2] = 220
        (folder / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(folder / label / f"{number:03}.png")
    return folder


@pytest.fixture
def bars(settings, tmp_path: Path) -> Path:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"
    store_labels(SPACE)
    for name, n, seed in (("bars", 64, 0), ("others", 40, 1)):
        import_images(source=written(tmp_path / name, n, seed), order=ImportOrder(name=name, labels="bars"))
    return tmp_path


def trained(out: Path, *more: str) -> str:
    told = StringIO()
    call_command(
        "train_network", "--images", "bars", "--out", str(out), "--epochs", "3", "--batch", "16", *more,
        stdout=told, stderr=StringIO(),
    )  # fmt: skip
    return told.getvalue()


def test_it_trains_tests_and_writes_a_network_that_evaluations_take(bars: Path) -> None:
    told = trained(bars / "bars.pt2", "--test", "others", "--seed", "3")
    described = json.loads((bars / "bars.json").read_text())
    assert described["labels"] == ["lying", "upright"] and described["input_px"] == 16
    provenance = described["provenance"]
    assert provenance["labels_identity"] == SPACE.identity and provenance["recipe"]["seed"] == 3
    assert provenance["training_pictures"] == 64 and str(bars) not in json.dumps(described)
    assert "2 labels, pictures of 16 px; 3 epochs" in told and "of 40 pictures named right" in told
    accuracy = float(told.split("others: ")[1].split()[0])
    assert accuracy > 0.8
    stimuli = picture_set("shown", {"lying": 2, "upright": 2}, space=SPACE)
    out = StringIO()
    spec = f"export:{bars / 'bars.pt2'}"
    call_command("evaluate", "--stimuli", "shown", "--classifier", spec, stdout=out, stderr=StringIO())
    run = stimuli.evaluations.get()
    assert (run.label_space, run.labels_identity) == (2, SPACE.identity)


def test_the_same_seed_writes_the_same_answers(bars: Path) -> None:
    first, second = (trained(bars / f"{name}.pt2", "--test", "others") for name in ("one", "two"))
    assert first.split("others: ")[1] == second.split("others: ")[1]


def test_an_accepted_label_is_right_too(bars: Path) -> None:
    SourceImage.objects.filter(source_set__name="others").update(accepted=["lying", "upright"])
    assert "others: 1.000 of 40 pictures named right" in trained(bars / "bars.pt2", "--test", "others")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--test", "bars"), "64 originals of evaluation are originals of training too"),
        (("--test", "digits"), "have the labels mnist, and those of bars bars"),
        (("--size", "200"), "16 to 96 px, not 200"),
        (("--images", "nothing"), "nothing"),
        (("--images", "mixed"), r"not squares of one size \(16 x 16, 18 x 18 px\): say with --size"),
        (("--learning-rate", "0"), "learning rate is above 0"),
        (("--out", "network.pt"), "name a .pt2 file"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_written(
    bars: Path, more: tuple[str, ...], message: str
) -> None:
    written(bars / "mixed", 4, 5, side=16)
    written(bars / "mixed", 2, 6, side=18)
    import_images(source=bars / "mixed", order=ImportOrder(name="mixed", labels="bars"))
    np.savez(
        bars / "digits.npz",
        x_test=np.random.default_rng(0).integers(0, 256, (10, 28, 28), dtype=np.uint8), y_test=np.arange(10),
    )  # fmt: skip
    assert shipped("mnist").identity != SPACE.identity
    import_images(source=bars / "digits.npz", order=ImportOrder(name="digits", labels="mnist"))
    with pytest.raises(CommandError, match=message):
        trained(bars / "bars.pt2", *more)
    assert not list(bars.glob("*.pt2"))


def test_a_file_that_is_there_and_a_label_without_pictures_are_refused(bars: Path) -> None:
    (bars / "bars.json").write_text("{}")
    with pytest.raises(CommandError, match="is there already"):
        trained(bars / "bars.pt2")
    SourceImage.objects.filter(source_set__name="bars", category="lying").delete()
    with pytest.raises(CommandError, match="1 labels of bars have no picture, the first is lying"):
        trained(bars / "other.pt2")


class TestRetraining:
    """Training a network further takes the labels of its pictures, too."""

    def network(self, folder: Path, labels: list[str]) -> str:
        return f"export:{small.export_file(folder / 'small.pt2', small.small_module(len(labels)), labels=labels)}"

    def test_it_learns_and_is_tested_among_the_labels_of_the_set(self, bars: Path, monkeypatch) -> None:  # noqa: ANN001
        monkeypatch.setattr(retraining, "REFITS", 20)
        picture_set("shown", {"lying": 4, "upright": 4}, count=16, space=SPACE)
        spec = self.network(bars, ["upright", "lying"])
        call_command(
            "retrain", "--stimuli=shown", f"--classifier={spec}", f"--out={bars / 'further.pt2'}", "--epochs=1",
            "--batch=8", stdout=StringIO(), stderr=StringIO(),
        )  # fmt: skip
        row = Retraining.objects.get()
        assert row.completed_at is not None and row.report["rows"]
        # ln 2 is the loss of whoever does not know which of two; among 16 it would be ln 16 = 2.8.
        assert row.report["losses"][0] < 1.5
        assert json.loads((bars / "further.json").read_text())["labels"] == ["upright", "lying"]

    def test_a_network_without_the_labels_and_a_test_with_others_are_refused(self, bars: Path) -> None:
        shown = picture_set("shown", {"lying": 4, "upright": 4}, space=SPACE)
        recipe = Recipe(epochs=1)
        with pytest.raises(InvalidRequest, match="have the labels entry16, and those of shown bars"):
            describe(
                Wanted(
                    stimulus_set=shown,
                    evaluation_set=picture_set("pets"),
                    spec="lite:0",
                    out=bars / "further.pt2",
                    recipe=recipe,
                )  # fmt: skip
            )
        spec = self.network(bars, ["cat", "dog"])
        with pytest.raises(CommandError, match="No output stands for lying, upright"):
            call_command(
                "retrain", "--stimuli=shown", f"--classifier={spec}", f"--out={bars / 'further.pt2'}", "--epochs=1",
                stdout=StringIO(), stderr=StringIO(),
            )  # fmt: skip
        assert not (bars / "further.pt2").exists()
