"""Probabilities that are given as logits, and logits as probabilities, are noticed before they are believed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import helper

from analysis.classifiers.loading import load_classifier
from analysis.errors import ClassifierUnavailable, InvalidInput
from analysis.labels.mapping import Answering
from tests.analysis.classifiers import small_networks as small


def _export(path: Path, end: str, outputs: str) -> str:
    ends = {"softmax": torch.nn.Softmax(1), "sigmoid": torch.nn.Sigmoid(), "": torch.nn.Identity()}
    network = torch.nn.Sequential(small.small_module(), ends[end]).eval()
    return f"export:{small.export_file(path / 'net.pt2', network, outputs=outputs)}"


def _onnx(path: Path, end: str, outputs: str) -> str:
    file = small.onnx_file(path / "net.onnx", outputs=outputs)
    model = onnx.load(file)
    if end:
        model.graph.node.append(
            helper.make_node({"softmax": "Softmax", "sigmoid": "Sigmoid"}[end], ["logits"], ["end"])
        )
        model.graph.output[0].name = "end"
    onnx.save(model, file)
    return f"onnx:{file}"


MAKE: dict[str, Any] = {"export": _export, "onnx": _onnx}


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize(
    ("end", "said", "reason"),
    [
        ("softmax", "logits", "puts out probabilities .* Write probabilities"),
        ("", "probabilities", "puts out numbers from -.* Write logits"),
        ("sigmoid", "probabilities", "puts out numbers with a sum of .* without"),
    ],
)
def test_outputs_that_are_something_else_are_refused(
    tmp_path: Path, kind: str, end: str, said: str, reason: str
) -> None:
    spec = MAKE[kind](tmp_path, end, said)
    with pytest.raises(ClassifierUnavailable, match=rf"net.json, field 'outputs': it says {said}, but .*{reason}"):
        load_classifier(spec)


@pytest.mark.parametrize("kind", MAKE)
def test_the_same_network_said_rightly_answers_alike(tmp_path: Path, kind: str) -> None:
    pictures = np.random.default_rng(1).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    answers = []
    for end, said in (("softmax", "probabilities"), ("", "logits")):
        (tmp_path / said).mkdir()
        answers.append(load_classifier(MAKE[kind](tmp_path / said, end, said)).predict(pictures))
    assert np.abs(answers[0] - answers[1]).max() < 1e-6


def test_raw_outputs_are_no_probabilities_of_own_labels_either() -> None:
    with pytest.raises(InvalidInput, match="softmax first"):
        Answering(own_labels=True).answer(np.array([[3.0, -1.0]]), ["a", "b"])
