"""What holds for every kind of classifier: it loads, answers, sees the whole picture."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.classifiers.loading import SCHEMES, load_classifier
from analysis.classifiers.networks import TorchNetwork, require_gradients
from analysis.classifiers.port import Classifier, RecordedPredictions, classify, rehearse
from analysis.errors import ClassifierUnavailable, TableRefused
from analysis.labels.files import default_labels
from tests.analysis.classifiers import small_networks as small

NETWORKS = ("torchvision", "timm", "hf", "open_clip", "export", "onnx", "python")
TORCH = ("torchvision", "timm", "hf", "open_clip", "export")


@dataclass
class Made:
    spec: str
    labels: Path | None = None

    def load(self, **options: Any) -> Any:
        return load_classifier(self.spec, allow_code=True, labels=self.labels, **options)

    @cached_property
    def loaded(self) -> Any:
        return self.load()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Made]:
    folder = tmp_path_factory.mktemp("networks")
    mapping = small.mapping_file(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "torchvision": Made(f"torchvision:squeezenet1_1@{small.torchvision_weights(folder / 'tv.pt')}", mapping),
            "timm": Made(f"timm:test_vit@{small.timm_weights(folder / 'timm.pt')}", mapping),
            "hf": Made(f"hf:{small.hf_folder(folder / 'vit')}"),
            "open_clip": Made(f"open_clip:{small.clip_folder(folder / 'clip')}"),
            "export": Made(f"export:{small.export_file(folder / 'small.pt2')}"),
            "onnx": Made(f"onnx:{small.onnx_file(folder / 'small.onnx')}"),
            "python": Made("python:tests.analysis.classifiers.small_networks:make_lab_classifier"),
            "table": Made(f"table:{small.prediction_table(folder / 'answers.csv', ['a', 'b', 'c'])}"),
        }


@pytest.fixture(scope="module")
def pictures() -> np.ndarray:
    return np.random.default_rng(4).integers(0, 256, (3, 224, 224, 3), dtype=np.uint8)


@pytest.mark.verify
def test_each_kind_is_tested(made: dict[str, Made]) -> None:
    """Networks that come as packages, or through others, have files of their own."""
    apart = {"grey", "lite", "readout"}
    assert set(SCHEMES) - apart == set(made) == {*NETWORKS, "table"}
    assert apart < set(SCHEMES)


@pytest.mark.verify
@pytest.mark.parametrize("kind", NETWORKS)
def test_every_kind_of_network_loads_and_answers(
    kind: str, made: dict[str, Made], pictures: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    classifier = made[kind].loaded
    assert isinstance(classifier, Classifier)
    assert (classifier.label_space, len(classifier.labels), len(classifier.digest)) == (16, 16, 64)
    probabilities = classifier.predict(pictures)
    assert probabilities.shape == (3, 16)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-4)
    assert probabilities.std() > 0
    assert made[kind].load().digest == classifier.digest != "0" * 64
    rehearse(classifier, 224)
    answers = classify(classifier, ["a", "b", "c"], lambda: pictures)
    assert set(answers.responses.tolist()) <= set(default_labels().ids)
    assert answers.label_space == 16


def test_recorded_predictions_load_and_answer(made: dict[str, Made]) -> None:
    table = made["table"].load()
    assert isinstance(table, RecordedPredictions)
    rehearse(table, 224)
    answers = classify(table, ["c", "a"], lambda: pytest.fail("pictures were asked for"))
    assert answers.responses.tolist() == [default_labels().ids[2], default_labels().ids[0]]


@pytest.mark.parametrize("kind", NETWORKS)
def test_no_kind_of_network_crops(kind: str, made: dict[str, Made]) -> None:
    """Default centre crops would cut a marker in the outermost three pixels off, and change nothing."""
    classifier = made[kind].loaded
    batch = np.full((5, 224, 224, 3), 100, dtype=np.uint8)
    for number, side in enumerate((np.s_[:3], np.s_[-3:], np.s_[:, :3], np.s_[:, -3:])):
        batch[number][side] = (255, 0, 80)
    *marked, plain = classifier.predict(batch)
    assert all(np.abs(one - plain).max() > 1e-6 for one in marked)


@pytest.mark.parametrize("kind", TORCH)
def test_a_torch_network_can_be_differentiated_and_agrees_with_its_predictions(
    kind: str, made: dict[str, Made], pictures: np.ndarray
) -> None:
    network = require_gradients(made[kind].loaded)
    tensor = torch.from_numpy(pictures).permute(0, 3, 1, 2).float().div(255).requires_grad_()
    logits = network.logits(tensor)
    assert logits.softmax(dim=1).detach().numpy() == pytest.approx(network.predict(pictures), abs=1e-4)
    network.label_logits(tensor, default_labels())[:, 3].sum().backward()
    border = torch.ones(224, 224, dtype=torch.bool)
    border[3:-3, 3:-3] = False
    assert tensor.grad is not None
    assert float(tensor.grad[:, :, border].abs().sum()) > 0


def test_an_onnx_network_looks_at_few_pictures_at_once_on_a_processor(tmp_path: Path) -> None:
    assert load_classifier(f"onnx:{small.onnx_file(tmp_path / 'free.onnx')}").batch == 4  # type: ignore[union-attr]
    assert load_classifier(f"onnx:{small.onnx_file(tmp_path / 'fixed.onnx', batch=2)}").batch == 2  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["onnx", "python", "table"])
def test_what_has_no_gradients_says_so(kind: str, made: dict[str, Made]) -> None:
    with pytest.raises(ClassifierUnavailable, match="gives no gradients"):
        require_gradients(made[kind].loaded)


@pytest.mark.parametrize("size", [(224, 224), (32, 32), (20, 20), (48, 96)])
def test_the_resizing_of_tensors_is_that_of_pictures(size: tuple[int, int], made: dict[str, Made]) -> None:
    inputs = require_gradients(made["export"].loaded).inputs
    batch = np.random.default_rng(0).integers(0, 256, (2, *size, 3), dtype=np.uint8)
    tensor = inputs.apply_to_tensor(torch.from_numpy(batch).permute(0, 3, 1, 2).float().div(255))
    assert tensor.numpy() == pytest.approx(inputs.apply(batch), abs=1e-5)


def test_an_onnx_network_of_one_batch_size_takes_any_number_of_pictures(tmp_path: Path, pictures: np.ndarray) -> None:
    free = load_classifier(f"onnx:{small.onnx_file(tmp_path / 'free.onnx')}")
    fixed = load_classifier(f"onnx:{small.onnx_file(tmp_path / 'fixed.onnx', batch=2)}")
    assert isinstance(free, Classifier)
    assert isinstance(fixed, Classifier)
    assert fixed.predict(pictures) == pytest.approx(free.predict(pictures), abs=1e-6)
    assert fixed.predict(pictures[:0]).shape == (0, 16)


def test_weights_of_a_network_that_was_trained_on_many_devices_load(made: dict[str, Made], tmp_path: Path) -> None:
    kept = made["timm"]
    weights = torch.load(kept.spec.partition("@")[2], weights_only=True)["state_dict"]
    torch.save({f"module.{name}": value for name, value in weights.items()}, tmp_path / "parallel.pt")
    again = load_classifier(f"timm:test_vit@{tmp_path / 'parallel.pt'}", labels=kept.labels)
    assert again.digest == kept.loaded.digest


def test_a_stimulus_without_recorded_prediction_is_refused(made: dict[str, Made]) -> None:
    with pytest.raises(TableRefused, match="1 of 2 stimuli have no row, the first is 'missing'"):
        classify(made["table"].load(), ["a", "missing"], lambda: np.zeros((0, 1, 1, 3), np.uint8))


def test_every_network_is_frozen(made: dict[str, Made]) -> None:
    for kind in TORCH:
        network = made[kind].loaded
        assert isinstance(network, TorchNetwork)
        assert not any(weight.requires_grad for weight in network.forward.parameters())  # type: ignore[attr-defined]
