"""Labels of networks: a lab's own, mapped by a file, those of ImageNet, and the 16-way decision from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from analysis.classifiers.decision import imagenet_labels, read_labels
from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import require_gradients
from analysis.classifiers.port import classify, rehearse
from analysis.errors import InvalidInput, TableRefused
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids
from analysis.labels.mapping import Answering
from analysis.labels.space import Label, LabelSpace
from tests.analysis.classifiers import small_networks as small


def test_own_labels_are_mapped_by_a_file(tmp_path: Path) -> None:
    rows = [
        ("plush bear", ""),
        ("real bear", "bear"),
        *((name, name) for name in default_labels().ids if name != "bear"),
    ]
    mapping = small.mapping_file(tmp_path, rows)
    path = small.export_file(tmp_path / "net.pt2", small.small_module(17), labels="labels.csv")
    beside = load_classifier(f"export:{path}")
    given = load_classifier(f"export:{path}", labels=mapping)
    assert beside.labels == given.labels
    assert beside.labels[:2] == ("plush bear (no category)", "bear")
    rehearse(beside, 32)


@pytest.mark.parametrize("scheme", ["export", "onnx"])
def test_a_mapping_file_beside_a_network_names_the_labels_of_the_pictures(scheme: str, tmp_path: Path) -> None:
    space = LabelSpace(name="shades", labels=(Label(id="dark"), Label(id="light")))
    small.mapping_file(tmp_path, [("black", "dark"), ("white", "light"), ("red", "")])
    if scheme == "export":
        path = small.export_file(tmp_path / "net.pt2", small.small_module(3), labels="labels.csv")
    else:
        path = small.onnx_file(tmp_path / "net.onnx", n_labels=3, labels="labels.csv")
    network = load_classifier(f"{scheme}:{path}", space=space)
    assert network.labels[:2] == ("dark", "light")
    with pytest.raises(TableRefused, match="'dark' is not one of"):
        load_classifier(f"{scheme}:{path}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label\ncat\n", "labels.csv: column 'category' is missing"),
        ("label,category\nmy cat,lion\n", "labels.csv, row 1, column 'category': 'lion' is not one of"),
        ("label,category\nmy cat,cat\n", "no output stands for airplane"),
    ],
)
def test_a_wrong_mapping_file_is_refused_by_row(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(TableRefused, match=message):
        load_classifier("timm:test_vit@random", labels=tmp_path / "labels.csv")


@pytest.mark.parametrize(
    "doubled",
    [
        [("crane", "bird"), ("crane", "")],
        [("maillot", ""), ("maillot", "")],
        [("unused", ""), ("unused", ""), ("unused", "")],
        [("cat", "cat"), ("cat", "dog")],
    ],
    ids=["cranes", "maillots", "unused", "one name, two categories"],
)
def test_rows_are_outputs_whatever_their_names(tmp_path: Path, doubled: list[tuple[str, str]]) -> None:
    rows = [doubled[0], *((f"my {name}", name) for name in default_labels().ids), *doubled[1:]]
    labels = read_labels(small.mapping_file(tmp_path, rows))
    assert labels == tuple(category or f"{label} (no category)" for label, category in rows)


def test_imagenet_names_are_known_with_and_without_background() -> None:
    names = ["tench, Tinca tinca", *(f"class {number}" for number in range(998)), "toilet tissue"]
    assert imagenet_labels(names) == class_ids()
    assert imagenet_labels(["background", *names]) == ("background (no category)", *class_ids())
    assert imagenet_labels(["a", "b"]) == ("a", "b")


def test_labels_that_lack_a_category_are_refused(tmp_path: Path) -> None:
    path = small.export_file(tmp_path / "net.pt2", labels=[f"class {number}" for number in range(16)])
    with pytest.raises(InvalidInput, match="No output stands for airplane.*mapping file"):
        rehearse(load_classifier(f"export:{path}"), 32)


def test_label_logits_of_a_thousand_labels_are_the_16_way_decision(tmp_path: Path) -> None:
    path = small.export_file(tmp_path / "net.pt2", small.small_module(1000), labels="imagenet")
    network = require_gradients(load_classifier(f"export:{path}"))
    batch = np.random.default_rng(0).integers(0, 256, (8, 32, 32, 3), dtype=np.uint8)
    scores = network.label_logits(torch.from_numpy(batch).permute(0, 3, 1, 2).float().div(255), default_labels())
    decided = classify(network, list("abcdefgh"), lambda: batch)
    assert [default_labels().ids[column] for column in scores.argmax(dim=1)] == decided.responses.tolist()
    own = classify(network, list("abcdefgh"), lambda: batch, Answering(own_labels=True))
    assert own.label_space == 1000
    assert set(own.responses.tolist()) <= set(class_ids())
