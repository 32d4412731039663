"""Retraining on labelled pictures and mixes, among a network's own outputs, and its learning curve."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import torch
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from PIL import Image

from analysis.classifiers.loading import load_classifier
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids
from analysis.labels.mapping import mapping_of
from humanexp.core.models import User
from humanexp.evaluations.models import Retraining
from humanexp.evaluations.services import retraining
from humanexp.stimuli.models import SourceSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from tests.analysis.classifiers import small_networks as small
from tests.evaluations.sets import picture_set

pytestmark = pytest.mark.django_db(transaction=True)
#: Classes of ImageNet for two of the 16 categories, with the colour of their pictures: a tabby cat, a beagle.
CLASSES = {"n02123045": (200, 60, 60), "n02088364": (60, 60, 200)}


@pytest.fixture(autouse=True)
def site(settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN001
    monkeypatch.setattr(retraining, "REFITS", 40)
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"


@pytest.fixture
def network(tmp_path: Path) -> str:
    """A network with the 1,000 classes of ImageNet as its outputs."""
    return f"export:{small.export_file(tmp_path / 'net.pt2', small.small_module(1000), labels=list(class_ids()))}"


def pictures(tmp_path: Path, name: str, n: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    for wnid, colour in CLASSES.items():
        folder = tmp_path / "folders" / name / wnid
        folder.mkdir(parents=True)
        for number in range(n):
            picture = np.clip(np.array(colour) + rng.normal(0, 25, (64, 64, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(picture).save(folder / f"{number}.png")
    import_images(source=tmp_path / "folders" / name, order=ImportOrder(name=name))
    return name


def retrained(*arguments: str) -> str:
    out = StringIO()
    call_command("retrain", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def right(spec: str, source_set: SourceSet) -> float:
    """Share of a set's pictures that a network names, computed apart."""
    network = load_classifier(spec)
    mapping = mapping_of(tuple(network.labels), default_labels())
    told = []
    for image in source_set.images.order_by("key"):
        with Image.open(Path(retraining.media_path(image.file))) as opened:
            shown = np.array(opened.convert("RGB").resize((224, 224), Image.Resampling.BICUBIC))
        answer = mapping.answer(network.predict(shown[None])).responses[0]
        told.append(answer == image.category)
    return float(np.mean(told))


@pytest.mark.verify
def test_a_mix_of_folders_is_trained_on_and_tested_on_others(tmp_path: Path, network: str) -> None:
    """ImageNet-D, Table 6: an original set, so many pictures of another one, and tests of other pictures."""
    for name, n, seed in (("base", 6, 0), ("extra", 10, 1), ("fresh", 8, 2)):
        pictures(tmp_path, name, n, seed)
    out, report_file = tmp_path / "mixed.pt2", tmp_path / "report.json"
    said = retrained(
        "--images=base", "--images=extra:8", "--test=fresh", f"--classifier={network}", f"--out={out}", "--epochs=4",
        "--learning-rate=0.02", "--batch=4", "--held-out=0", "--decay-every=2", f"--json={report_file}",
    )  # fmt: skip
    report = json.loads(report_file.read_text())
    assert report["training_originals"] == 12 + 8 == report["training_stimuli"] and report["rows"] == []
    (test,) = report["tests"]
    fresh = SourceSet.objects.get(name="fresh")
    assert test["set"] == "fresh" and test["n"] == 16
    assert test["before"] == pytest.approx(right(network, fresh), abs=1 / 16)
    assert test["after"] == pytest.approx(right(f"export:{out}", fresh), abs=1 / 16) and test["after"] > 0.9
    assert test["interval"][0] <= test["difference"] == pytest.approx(test["after"] - test["before"])
    assert len(report["losses"]) == 4 and report["losses"][-1] < report["losses"][0]
    assert report["material"] == "base, extra (8)" and report["recipe"]["decay_every"] == 2
    assert "fresh: " in said and "16 pictures" in said
    assert json.loads(out.with_suffix(".json").read_text())["provenance"]["pictures"][1]["count"] == 8


def test_easy_pictures_and_as_many_others_of_each_label_make_the_mixes_of_imagenet_d(
    tmp_path: Path, network: str
) -> None:
    """ImageNet-D, Table 6: Synthetic-easy, and ImageNet with the same number of pictures of each class."""
    for name, n, seed in (("base", 3, 0), ("synthetic", 8, 1), ("extra", 9, 2), ("fresh", 2, 3)):
        pictures(tmp_path, name, n, seed)
    asked = ("--images=base", "--test=fresh", f"--classifier={network}", "--epochs=1", "--held-out=0")
    with pytest.raises(CommandError, match="No classifier has looked at the pictures of synthetic: run select_gold"):
        retrained(*asked, "--images=synthetic:easy", f"--out={tmp_path / 'n.pt2'}")
    synthetic = SourceSet.objects.get(name="synthetic")
    # What two networks might have said: all cats but one are named right by both, and three dogs.
    easy = [*synthetic.images.filter(category="cat").order_by("key")[1:]]
    easy += synthetic.images.filter(category="dog").order_by("key")[:3]
    synthetic.images.update(classifiers_asked=2, classifiers_agreeing=1)
    synthetic.images.filter(pk__in=[one.pk for one in easy]).update(classifiers_agreeing=2)
    SourceSet.objects.filter(pk=synthetic.pk).update(gold_classifiers=["a", "b"])
    retrained(*asked, "--images=synthetic:easy", f"--out={tmp_path / 'easy.pt2'}")
    row = Retraining.objects.latest("pk")
    assert row.report["mix"][1] == {"set": "synthetic", "by_label": {"cat": 7, "dog": 3}}
    assert row.report["training_originals"] == 6 + 10 and row.material == "base, synthetic (easy ones)"
    retrained(*asked, "--images=extra:like=synthetic:8:easy", f"--out={tmp_path / 'sampled.pt2'}")
    row = Retraining.objects.latest("pk")
    assert row.report["mix"][1] == {"set": "extra", "by_label": {"cat": 5, "dog": 3}}
    assert row.material == "base, extra (as many of each label as synthetic (8, easy ones))"
    with pytest.raises(CommandError, match="which says how many"):
        retrained(*asked, "--images=extra:4:like=synthetic", f"--out={tmp_path / 'n.pt2'}")
    with pytest.raises(CommandError, match="There are 3 different originals of cat, and 7 are asked for"):
        retrained(*asked[1:], "--images=base:like=synthetic:easy", f"--out={tmp_path / 'n.pt2'}")


def test_stimuli_and_pictures_are_mixed_and_the_stimuli_still_test(tmp_path: Path, network: str) -> None:
    picture_set("pets", {"cat": 4, "dog": 4}, corruptions=["gaussian_noise"], count=16)
    pictures(tmp_path, "base", 5, 0)
    retrained(
        "--stimuli=pets", "--images=base", f"--classifier={network}", f"--out={tmp_path / 'm.pt2'}", "--epochs=1",
        "--held-out=0.5",
    )  # fmt: skip
    row = Retraining.objects.get()
    assert row.material == "pets, base" and row.report["tests"] == []
    assert {entry["corruption"] for entry in row.report["rows"]} == {"gaussian_noise"}
    held_out = row.report["held_out"]
    assert row.report["training_originals"] + held_out["originals"] == 4 + 10 and held_out["originals"] == 7


def test_a_loss_among_own_outputs_is_that_of_a_loop_in_plain_torch(tmp_path: Path, network: str) -> None:
    """VCR, experiment 3: cross-entropy of 1,000 outputs. One epoch of one batch is a single step of SGD."""
    pictures(tmp_path, "base", 4, 0)
    pictures(tmp_path, "fresh", 2, 1)
    out = tmp_path / "own.pt2"
    asked = ("--images=base", "--test=fresh", f"--classifier={network}", "--epochs=1", "--batch=8", "--held-out=0")
    retrained(*asked, "--own-labels", f"--out={out}", "--learning-rate=0.1")
    row = Retraining.objects.get()
    assert row.own_labels and row.report["loss_among"] == "own outputs"
    loaded = load_classifier(network)
    images = list(SourceSet.objects.get(name="base").images.order_by("key"))
    shown = np.stack(
        [np.asarray(Image.open(retraining.media_path(one.file)).convert("RGB").resize((224, 224), 3)) for one in images]
    )
    targets = torch.tensor([class_ids().index(one.wnid) for one in images])
    with torch.no_grad():
        logits = loaded.logits(torch.from_numpy(shown).permute(0, 3, 1, 2).float() / 255)
    expected = float(torch.nn.functional.cross_entropy(logits, targets))
    assert row.report["losses"][0] == pytest.approx(expected, abs=0.02)
    retrained(*asked, f"--out={tmp_path / 'sixteen.pt2'}", "--learning-rate=0.1")
    sixteen = Retraining.objects.latest("pk").report
    assert sixteen["loss_among"] == "labels of the pictures" and sixteen["losses"][0] != row.report["losses"][0]


@pytest.mark.verify
def test_the_page_draws_the_learning_curve_and_files_of_it_can_be_had(
    tmp_path: Path, network: str, client: Client
) -> None:
    pictures(tmp_path, "base", 6, 0)
    pictures(tmp_path, "fresh", 2, 1)
    retrained(
        "--images=base", "--test=fresh", f"--classifier={network}", f"--out={tmp_path / 'm.pt2'}", "--epochs=2",
        "--batch=4",
    )  # fmt: skip
    row = Retraining.objects.get()
    client.force_login(User.objects.create_user("anna"))
    page = client.get(reverse("evaluations:retraining", args=[row.pk])).content.decode()
    assert "Learning curve" in page and "On clean pictures of other sets" in page and "fresh" in page
    for suffix, beginning in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        reply = client.get(reverse("evaluations:learning_curve", args=[row.pk, suffix]))
        assert reply.status_code == 200 and reply.content.startswith(beginning)
    assert client.get(reverse("evaluations:learning_curve", args=[row.pk, "gif"])).status_code == 404


def test_the_form_asks_for_pictures_too(tmp_path: Path, network: str, client: Client) -> None:
    picture_set("pets", {"cat": 4, "dog": 4}, corruptions=["gaussian_noise"], count=8)
    pictures(tmp_path, "base", 3, 0)
    pictures(tmp_path, "fresh", 2, 1)
    shelf = retraining.media_path("classifiers")
    shelf.mkdir(parents=True)
    for path in (tmp_path / "net.pt2", tmp_path / "net.json"):
        path.rename(shelf / path.name)
    client.force_login(User.objects.create_user("anna"))
    sets = {one.name: one.pk for one in SourceSet.objects.all()}
    asked = {
        "spec": "export:net.pt2", "name": "mixed", "pictures": [sets["base"]], "tests": [sets["fresh"]], "epochs": 1,
        "learning_rate": 0.001, "momentum": 0.9, "batch": 8, "share": 0.5, "seed": 0, "held_out": 0, "patience": 2,
        "overhead": 1, "kg_co2_per_kwh": 0.432, "device": "cpu", "own_labels": "on",
    }  # fmt: skip
    reply = client.post("/classifiers/retrain/", asked)
    assert reply.status_code == 302
    row = Retraining.objects.get()
    assert (row.stimulus_set, row.own_labels) == (None, True) and [one["name"] for one in row.tests] == ["fresh"]
    assert client.get(reply.url).status_code == 200
    refused = client.post("/classifiers/retrain/", asked | {"name": "none", "pictures": []})
    assert refused.status_code == 422 and "nothing to train on" in refused.content.decode()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "There is nothing to train on"),
        (["--images=base"], "name a set to test on"),
        (["--images=base", "--test=base"], "12 originals of evaluation are originals of training too"),
        (["--images=base:0", "--test=fresh"], "a number of pictures"),
        (["--images=base:99", "--test=fresh"], "There are 12 different originals, and 99 are asked for"),
        (["--images=base", "--test=nothing"], "There is no set of pictures"),
        (["--images=pets", "--test=fresh", "--own-labels"], "have no WordNet id"),
        (["--images=base", "--test=fresh", "--corruption=frost"], "has no stimuli of frost"),
        (["--images=base", "--test=fresh", "--decay=2"], "decays by a factor"),
    ],
)
def test_what_cannot_end_well_is_refused_before_anything_is_written(
    tmp_path: Path, network: str, arguments: list[str], sentence: str
) -> None:
    pictures(tmp_path, "base", 6, 0)
    pictures(tmp_path, "fresh", 2, 1)
    picture_set("pets", {"cat": 2, "dog": 2})
    out = tmp_path / "m.pt2"
    with pytest.raises(CommandError, match=sentence):
        retrained(*arguments, f"--classifier={network}", f"--out={out}")
    assert not Retraining.objects.exists() and not out.exists()


def test_own_outputs_that_are_no_classes_of_the_pictures_are_refused(tmp_path: Path) -> None:
    pictures(tmp_path, "base", 2, 0)
    pictures(tmp_path, "fresh", 2, 1)
    spec = f"export:{small.export_file(tmp_path / 'own.pt2')}"
    with pytest.raises(CommandError, match="is none of the network's 16 outputs"):
        retrained(
            "--images=base", "--test=fresh", f"--classifier={spec}", f"--out={tmp_path / 'm.pt2'}", "--own-labels"
        )
