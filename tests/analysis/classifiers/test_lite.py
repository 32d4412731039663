"""Networks that know photographs: they answer as published, and every adapter gives the same answers."""

from __future__ import annotations

import json
import os
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch

from analysis.classifiers import onnx_network
from analysis.classifiers.description import Description
from analysis.classifiers.exported import save
from analysis.classifiers.loading import load_classifier
from analysis.classifiers.onnx_network import is_installed
from analysis.errors import ClassifierUnavailable
from analysis.labels.imagenet import class_ids
from analysis.labels.mapping import Answering
from tests.analysis.classifiers import small_networks as small

PHOTOS = Path(os.environ.get("REFERENCE_DATA", "/nonexistent")) / "photos16"
needs_networks = pytest.mark.skipif(
    not all(map(is_installed, onnx_network.SPECS)), reason="not installed: requirements/networks.txt"
)
needs_photos = pytest.mark.skipif(not PHOTOS.is_dir(), reason="REFERENCE_DATA holds no photos16")


def test_a_network_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ClassifierUnavailable, match="write lite:0, lite:1 or lite:2"):
        load_classifier("lite:4")
    assert not is_installed("lite:4")


@cache
def photos() -> tuple[np.ndarray, tuple[str, ...]]:
    files = sorted(PHOTOS.glob("*/*.jpg"))
    pictures = np.stack([cv2.imread(str(file), cv2.IMREAD_COLOR_RGB) for file in files])
    return pictures, tuple(file.parent.name for file in files)


@needs_networks
@needs_photos
@pytest.mark.parametrize(
    "spec", [onnx_network.SPECS[0], *(pytest.param(one, marks=pytest.mark.slow) for one in onnx_network.SPECS[1:])]
)
def test_photographs_are_named_right(spec: str) -> None:
    pictures, categories = photos()
    network = load_classifier(spec)
    right = Answering().answer(network.predict(pictures), network.labels).responses == np.array(categories)  # type: ignore[union-attr]
    assert right.mean() >= 0.95


def make_lite(device: str) -> Any:
    return load_classifier("lite:0", device=device)


def timm_weights(path: Path, state: dict[str, Any]) -> Path:
    """The same weights under timm's names; both lists are in the order of the network's layers."""
    from analysis.classifiers.weights import import_torchvision

    import_torchvision()
    import timm

    network = timm.create_model("tf_efficientnet_lite0", num_classes=1000)
    own = [(name, value) for name, value in state.items() if "num_batches_tracked" not in name]
    names = [name for name in network.state_dict() if "num_batches_tracked" not in name]
    assert len(own) == len(names)
    torch.save(dict(zip(names, (value for _, value in own), strict=True)), path)
    path.with_suffix(".json").write_text(json.dumps({"mean": [127 / 255] * 3, "std": [128 / 255] * 3}))
    return path


@pytest.mark.slow
@needs_networks
@needs_photos
def test_every_adapter_gives_the_same_answers(tmp_path: Path) -> None:
    network = load_classifier("lite:0")
    described = Description("lite0", class_ids(), network.inputs, "logits")  # type: ignore[union-attr]
    save(network.forward, tmp_path / "lite0.pt2", described)  # type: ignore[union-attr]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network.forward, (torch.zeros(2, 3, 224, 224),), tmp_path / "lite0.onnx", dynamo=False,  # type: ignore[union-attr]
            input_names=["pictures"], output_names=["logits"], dynamic_axes={"pictures": {0: "n"}, "logits": {0: "n"}},
        )  # fmt: skip
    (tmp_path / "lite0.onnx").with_suffix(".json").write_text((tmp_path / "lite0.json").read_text())
    weights = timm_weights(tmp_path / "timm.pt", network.forward.state_dict())  # type: ignore[union-attr]
    pictures, _ = photos()
    expected = Answering().answer(network.predict(pictures), class_ids())  # type: ignore[union-attr]
    for spec in (
        "python:tests.analysis.classifiers.test_lite:make_lite",
        f"export:{tmp_path / 'lite0.pt2'}",
        f"onnx:{tmp_path / 'lite0.onnx'}",
        f"timm:tf_efficientnet_lite0@{weights}",
    ):
        found = load_classifier(spec, allow_code=True)
        decided = Answering().answer(found.predict(pictures), found.labels)  # type: ignore[union-attr]
        assert decided.responses.tolist() == expected.responses.tolist(), spec
        assert np.abs(decided.confidence - expected.confidence).max() < 1e-5, spec


@needs_networks
def test_its_own_labels_are_not_taken_without_a_network_of_that_width(tmp_path: Path) -> None:
    mapping = small.mapping_file(tmp_path)
    network = load_classifier("lite:0", labels=mapping)
    with pytest.raises(ClassifierUnavailable, match="1000,.* values a picture but names 16 labels"):
        network.predict(np.zeros((1, 224, 224, 3), np.uint8))  # type: ignore[union-attr]
