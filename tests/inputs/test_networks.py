"""Networks as people really hand them in: every file is well formed and means something else than it seems to."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analysis.classifiers.decision import read_labels
from analysis.classifiers.loading import load_classifier
from analysis.errors import ClassifierUnavailable
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids
from analysis.labels.mapping import labels_of_classes
from tests.inputs.handed import handed_in

EXAMPLES = Path("analysis/examples/classifiers")


def test_imagenets_own_names_are_a_mapping_file_though_two_are_cranes() -> None:
    labels = read_labels(handed_in("classifier-mapping-file-with-two-cranes") / "labels.csv")
    assert [label.endswith("(no category)") for label in labels] == [
        wnid not in labels_of_classes(default_labels()) for wnid in class_ids()
    ]


def test_mean_and_std_of_0_to_255_are_refused_by_file(tmp_path: Path) -> None:
    folder = handed_in("classifier-mean-and-std-of-0-to-255")
    shutil.copy(folder / "clean.json", tmp_path / "clean.json")
    shutil.copy(EXAMPLES / "clean.pt2", tmp_path / "clean.pt2")
    with pytest.raises(
        ClassifierUnavailable, match=r"clean.json: .* for RGB from 0 to 1; these are for 0 to 255 .* 255"
    ):
        load_classifier(f"export:{tmp_path / 'clean.pt2'}")


def test_two_trainings_of_one_onnx_graph_have_two_digests() -> None:
    folder = handed_in("classifier-onnx-weights-beside-the-file")
    digests = {load_classifier(f"onnx:{folder / name / 'net.onnx'}").digest for name in ("training-1", "training-2")}
    assert len(digests) == 2
