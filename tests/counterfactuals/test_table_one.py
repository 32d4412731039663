"""Table 1 of OOR by commands on tiny pictures: digits, nine classes, and the 1,000 of ImageNet."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import cv2
import numpy as np
import pytest
from django.core.management import call_command

from analysis.classifiers.loading import load_classifier
from analysis.counterfactuals.files import read_picture
from analysis.generation.files import encode_png
from analysis.labels.imagenet import class_ids
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import SearchRun
from tests.analysis.classifiers import small_networks as small

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def site(settings, tmp_path: Path) -> None:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"


def called(name: str, *arguments: str) -> str:
    out = StringIO()
    call_command(name, *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def digits(folder: Path, n: int, seed: int) -> Path:
    """Handwriting of a kind: every digit n times, of 28 px, moved and of another weight each time."""
    rng = np.random.default_rng(seed)
    for digit in range(10):
        (folder / str(digit)).mkdir(parents=True)
        for number in range(n):
            picture = np.zeros((28, 28), np.uint8)
            at = (int(rng.integers(4, 9)), int(rng.integers(20, 25)))
            cv2.putText(picture, str(digit), at, cv2.FONT_HERSHEY_SIMPLEX, 0.7, 255, int(rng.integers(1, 4)))
            picture = np.clip(picture + rng.normal(0, 10, picture.shape), 0, 255).astype(np.uint8)
            (folder / str(digit) / f"{number}.png").write_bytes(encode_png(np.repeat(picture[..., None], 3, axis=2)))
    return folder


@pytest.mark.verify
def test_digits_are_searched_with_networks_of_commands_and_scores_are_those_counted_apart(tmp_path: Path) -> None:
    for name, n, seed in (("train", 20, 0), ("test", 2, 1)):
        called("import_images", str(digits(tmp_path / name, n, seed)), "--label-space=mnist", f"--name=d-{name}")
    for name, seed in (("a", 0), ("b", 1)):
        called(
            "train_network", "--images=d-train", f"--out={tmp_path / name}.pt2", "--epochs=8", "--batch=16",
            f"--seed={seed}",
        )  # fmt: skip
    called(
        "counterfactuals", "--images=d-test", "--name=row", "--size=28", "--budget=3", f"--json={tmp_path / 'r.json'}",
        "--generator=corruption:gaussian_noise,step=0.2", f"--classifier=export:{tmp_path / 'a.pt2'}",
        f"--oracle=classifier:export:{tmp_path / 'b.pt2'}",
    )  # fmt: skip
    told = json.loads((tmp_path / "r.json").read_text())["pooled"]
    model, oracle = (load_classifier(f"export:{tmp_path / name}.pt2") for name in "ab")
    rows = list(SearchRun.objects.get().counterfactuals.select_related("source_image", "run"))
    said = np.array(model.labels)

    def named(network, files: list[str]) -> np.ndarray:  # noqa: ANN001
        return said[network.predict(np.stack([read_picture(media_path(one)) for one in files])).argmax(axis=1)]

    truth = np.array([row.category for row in rows])
    sa = float(np.mean(named(model, [row.original_file for row in rows]) == truth))
    kept = [row for row in rows if row.sha256]
    labels = np.array([row.category for row in kept])
    assert (named(oracle, [row.kept_file for row in kept]) == labels).all()
    ca = float(np.mean(named(model, [row.kept_file for row in kept]) == labels))
    assert told["n"] == 20 and told["sa"] == pytest.approx(sa) and sa > 0.5
    assert told["vr"] == pytest.approx(len(kept) / 20) and told["ca"] == pytest.approx(ca)
    assert told["oor"] == pytest.approx(ca / sa)


@pytest.mark.parametrize(
    ("space", "folders", "ids"),
    [
        ("restricted9", ("n02085620", "n01641577", "n01978287"), {"dog", "frog", "crab"}),
        ("imagenet1000", ("n01440764", "n01641577", "n07747607"), {"n01440764", "n01641577", "n07747607"}),
    ],
)
def test_spaces_of_imagenet_are_searched(space: str, folders: tuple[str, ...], ids: set[str], tmp_path: Path) -> None:
    """A network with 1,000 outputs; it is its own oracle, so that its accuracy on accepted pictures is 1."""
    rng = np.random.default_rng(0)
    for folder in folders:
        (tmp_path / "wnids" / folder).mkdir(parents=True)
        for number in range(4):
            picture = np.clip(rng.integers(30, 220, 3) + rng.normal(0, 20, (64, 64, 3)), 0, 255).astype(np.uint8)
            (tmp_path / "wnids" / folder / f"{number}.png").write_bytes(encode_png(picture))
    called("import_images", str(tmp_path / "wnids"), f"--label-space={space}", "--name=some")
    network = small.export_file(tmp_path / "net.pt2", small.small_module(1000), labels=list(class_ids()))
    called(
        "counterfactuals", "--images=some", "--name=row", "--size=64", "--budget=1", "--pictures=3",
        "--generator=corruption:gaussian_noise,step=0.5", f"--classifier=export:{network}",
        f"--oracle=classifier:export:{network}",
    )  # fmt: skip
    run = SearchRun.objects.get()
    assert set(run.scores["classes"]) == ids and run.scores["pooled"]["n"] == 3
    pooled = run.scores["pooled"]
    assert pooled["ca"] in (None, 1.0) and (pooled["n_valid"] == 0) == (pooled["ca"] is None)
    known = set(run.source_set.space.ids)
    assert {row.clean_response for row in run.counterfactuals.all()} <= known and len(known) in (9, 1000)
