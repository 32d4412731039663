"""What holds for every kind of classifier: it loads, answers, sees the whole picture, refuses what it cannot use."""

from __future__ import annotations

import json
import os
import pickle
import warnings
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.categories import CATEGORIES, IMAGENET_WNIDS
from analysis.classifiers import (
    SCHEMES,
    Classifier,
    RecordedPredictions,
    classify,
    load_classifier,
    rehearse,
    require_gradients,
)
from analysis.classifiers.clip import prompt
from analysis.classifiers.labels import imagenet_labels
from analysis.classifiers.networks import TorchNetwork
from analysis.errors import ClassifierUnavailable, InvalidInput, TableRefused
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


def test_there_are_eight_kinds_and_each_is_tested(made: dict[str, Made]) -> None:
    assert set(SCHEMES) == set(made) == {*NETWORKS, "table"}


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
    assert set(answers.responses.tolist()) <= set(CATEGORIES)
    assert answers.label_space == 16


def test_recorded_predictions_load_and_answer(made: dict[str, Made]) -> None:
    table = made["table"].load()
    assert isinstance(table, RecordedPredictions)
    rehearse(table, 224)
    answers = classify(table, ["c", "a"], lambda: pytest.fail("pictures were asked for"))
    assert answers.responses.tolist() == [CATEGORIES[2], CATEGORIES[0]]


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
    assert network.has_gradients
    tensor = torch.from_numpy(pictures).permute(0, 3, 1, 2).float().div(255).requires_grad_()
    logits = network.logits(tensor)
    assert logits.softmax(dim=1).detach().numpy() == pytest.approx(network.predict(pictures), abs=1e-4)
    network.category_logits(tensor)[:, 3].sum().backward()
    border = torch.ones(224, 224, dtype=torch.bool)
    border[3:-3, 3:-3] = False
    assert tensor.grad is not None
    assert float(tensor.grad[:, :, border].abs().sum()) > 0


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


def test_category_logits_of_a_thousand_labels_are_the_16_way_decision(tmp_path: Path) -> None:
    path = small.export_file(tmp_path / "net.pt2", small.small_module(1000), labels="imagenet")
    network = require_gradients(load_classifier(f"export:{path}"))
    batch = np.random.default_rng(0).integers(0, 256, (8, 32, 32, 3), dtype=np.uint8)
    scores = network.category_logits(torch.from_numpy(batch).permute(0, 3, 1, 2).float().div(255))
    decided = classify(network, list("abcdefgh"), lambda: batch)
    assert [CATEGORIES[column] for column in scores.argmax(dim=1)] == decided.responses.tolist()
    own = classify(network, list("abcdefgh"), lambda: batch, own_labels=True)
    assert own.label_space == 1000
    assert set(own.responses.tolist()) <= set(IMAGENET_WNIDS)


def test_an_onnx_network_of_one_batch_size_takes_any_number_of_pictures(tmp_path: Path, pictures: np.ndarray) -> None:
    free = load_classifier(f"onnx:{small.onnx_file(tmp_path / 'free.onnx')}")
    fixed = load_classifier(f"onnx:{small.onnx_file(tmp_path / 'fixed.onnx', batch=2)}")
    assert isinstance(free, Classifier)
    assert isinstance(fixed, Classifier)
    assert fixed.predict(pictures) == pytest.approx(free.predict(pictures), abs=1e-6)
    assert fixed.predict(pictures[:0]).shape == (0, 16)


def test_clip_reads_sentences() -> None:
    assert prompt("cat") == "a picture of a cat"
    assert prompt("airplane") == "a picture of an airplane"


# --- own labels -------------------------------------------------------------------------------------------------------


def test_own_labels_are_mapped_by_a_file(tmp_path: Path) -> None:
    rows = [("plush bear", ""), ("real bear", "bear"), *((name, name) for name in CATEGORIES if name != "bear")]
    mapping = small.mapping_file(tmp_path, rows)
    path = small.export_file(tmp_path / "net.pt2", small.small_module(17), labels="labels.csv")
    beside = load_classifier(f"export:{path}")
    given = load_classifier(f"export:{path}", labels=mapping)
    assert beside.labels == given.labels
    assert beside.labels[:2] == ("plush bear (no category)", "bear")
    rehearse(beside, 32)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label\ncat\n", "labels.csv: column 'category' is missing"),
        ("label,category\nmy cat,lion\n", "labels.csv, row 1, column 'category': 'lion' is not one of"),
        ("label,category\nmy cat,cat\nmy cat,dog\n", "row 2: a row with label=my cat stands twice"),
        ("label,category\nmy cat,cat\n", "no output stands for airplane"),
    ],
)
def test_a_wrong_mapping_file_is_refused_by_row(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(TableRefused, match=message):
        load_classifier("timm:test_vit@random", labels=tmp_path / "labels.csv")


def test_imagenet_names_are_known_with_and_without_background() -> None:
    names = ["tench, Tinca tinca", *(f"class {number}" for number in range(998)), "toilet tissue"]
    assert imagenet_labels(names) == IMAGENET_WNIDS
    assert imagenet_labels(["background", *names]) == ("background (no category)", *IMAGENET_WNIDS)
    assert imagenet_labels(["a", "b"]) == ("a", "b")


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "named"),
    [("torchvision", "tv.pt"), ("timm", "timm.pt"), ("hf", "vit"), ("open_clip", "clip"),
     ("export", "small.pt2"), ("onnx", "small.onnx"), ("table", "answers.parquet")],
)  # fmt: skip
def test_a_damaged_file_is_refused_with_its_name(kind: str, named: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec, broken = {
            "torchvision": lambda: (f"torchvision:squeezenet1_1@{tmp_path / 'tv.pt'}", tmp_path / "tv.pt"),
            "timm": lambda: (f"timm:test_vit@{tmp_path / 'timm.pt'}", tmp_path / "timm.pt"),
            "hf": lambda: (f"hf:{small.hf_folder(tmp_path / 'vit')}", tmp_path / "vit" / "model.safetensors"),
            "open_clip": lambda: (
                f"open_clip:{small.clip_folder(tmp_path / 'clip')}",
                tmp_path / "clip" / "open_clip_pytorch_model.bin",
            ),
            "export": lambda: (f"export:{small.export_file(tmp_path / 'small.pt2')}", tmp_path / "small.pt2"),
            "onnx": lambda: (f"onnx:{small.onnx_file(tmp_path / 'small.onnx')}", tmp_path / "small.onnx"),
            "table": lambda: (f"table:{tmp_path / 'answers.parquet'}", tmp_path / "answers.parquet"),
        }[kind]()
    content = broken.read_bytes() if broken.exists() else b"PK\x03\x04 no weights at all"
    broken.write_bytes(content[: max(20, len(content) // 3)])
    with pytest.raises((ClassifierUnavailable, TableRefused)) as refused:
        load_classifier(spec)
    assert f"{tmp_path.name}/{named}" in str(refused.value) or named in str(refused.value)


class Sneaky:
    """Unpickled without care, it would write a file."""

    def __init__(self, target: str) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return (os.mkdir, (self.target,))


@pytest.mark.parametrize("scheme", ["torchvision:squeezenet1_1", "timm:test_vit", "open_clip:ViT-B-32"])
def test_code_in_a_file_of_weights_is_refused_and_never_run(scheme: str, tmp_path: Path) -> None:
    if scheme.startswith("open_clip"):
        reference = small.clip_folder(tmp_path / "clip")
        torch.save(Sneaky(str(tmp_path / "written")), reference / "open_clip_pytorch_model.bin")
        spec = f"open_clip:{reference}"
    else:
        torch.save(Sneaky(str(tmp_path / "written")), tmp_path / "weights.pt")
        spec = f"{scheme}@{tmp_path / 'weights.pt'}"
    with pytest.raises(ClassifierUnavailable, match="(?i)weights"):
        load_classifier(spec)
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize("entry", ["data/sample_inputs/model.pt", "data/constants/opaque_obj_0", "pickled weight"])
def test_code_in_an_exported_program_is_refused_and_never_run(entry: str, tmp_path: Path) -> None:
    plain = small.export_file(tmp_path / "plain.pt2")
    target = tmp_path / "sneaky.pt2"
    sneaky = Sneaky(str(tmp_path / "written"))
    torch.save(sneaky, tmp_path / "sneaky.pt")
    pickled = (tmp_path / "sneaky.pt").read_bytes() if "sample" in entry else pickle.dumps(sneaky)
    with zipfile.ZipFile(plain) as before, zipfile.ZipFile(target, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            if name.endswith("weights_config.json") and entry == "pickled weight":
                fields = json.loads(content)
                next(iter(fields["config"].values()))["use_pickle"] = True
                content = json.dumps(fields).encode()
            after.writestr(name, pickled if name.endswith(entry) else content)
        if "opaque" in entry:
            after.writestr(f"plain/{entry}", pickled)
    small.describe(target)
    if "sample" in entry:
        with pytest.raises(ClassifierUnavailable, match=r"sneaky\.pt2: torch\.export cannot read it"):
            load_classifier(f"export:{target}")
    else:
        with pytest.raises(ClassifierUnavailable, match=r"sneaky\.pt2: .* holds a pickled object"):
            load_classifier(f"export:{target}")
    assert not (tmp_path / "written").exists()


def test_a_program_of_one_number_of_pictures_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "fixed.pt2"
    torch.export.save(torch.export.export(small.small_module(), (torch.zeros(2, 3, 32, 32),)), path)
    with pytest.raises(ClassifierUnavailable, match=r"one picture as well as three.*torch\.export\.Dim"):
        load_classifier(f"export:{small.describe(path)}")


def test_weights_of_a_network_that_was_trained_on_many_devices_load(made: dict[str, Made], tmp_path: Path) -> None:
    kept = made["timm"]
    weights = torch.load(kept.spec.partition("@")[2], weights_only=True)["state_dict"]
    torch.save({f"module.{name}": value for name, value in weights.items()}, tmp_path / "parallel.pt")
    again = load_classifier(f"timm:test_vit@{tmp_path / 'parallel.pt'}", labels=kept.labels)
    assert again.digest == kept.loaded.digest


@pytest.mark.parametrize("kind", ["export", "onnx"])
def test_a_wrong_number_of_labels_is_found_before_anything_is_written(kind: str, tmp_path: Path) -> None:
    path = {
        "export": lambda: small.export_file(tmp_path / "net.pt2", labels="imagenet"),
        "onnx": lambda: small.onnx_file(tmp_path / "net.onnx", labels="imagenet"),
    }[kind]()
    classifier = load_classifier(f"{kind}:{path}")
    with pytest.raises(ClassifierUnavailable, match=r"puts out \(16,\) values a picture but names 1000 labels"):
        rehearse(classifier, 224)


@pytest.mark.parametrize(
    ("spec", "make"),
    [("torchvision:squeezenet1_1", small.torchvision_weights), ("timm:test_vit", small.timm_weights)],
)
def test_weights_of_another_number_of_labels_name_the_remedy(spec: str, make: Any, tmp_path: Path) -> None:
    path = make(tmp_path / "weights.pt", 16)
    with pytest.raises(ClassifierUnavailable, match=r"weights\.pt holds another network's weights.*mapping file"):
        load_classifier(f"{spec}@{path}")


def test_a_lab_classifier_of_another_width_is_refused() -> None:
    class Narrow(small.LabClassifier):
        def predict(self, images: np.ndarray) -> np.ndarray:
            return super().predict(images)[:, :15]

    with pytest.raises(ClassifierUnavailable, match=r"array of shape \(1, 15\), not \(1, 16\)"):
        rehearse(Narrow(), 32)


@pytest.mark.parametrize("kind", ["export", "onnx", "python"])
def test_outputs_that_are_no_numbers_are_refused(kind: str, tmp_path: Path) -> None:
    class Lost(small.LabClassifier):
        def predict(self, images: np.ndarray) -> np.ndarray:
            return super().predict(images) * np.nan

    classifier = {
        "export": lambda: load_classifier(
            f"export:{small.export_file(tmp_path / 'net.pt2', small.small_module(bias=float('nan')))}"
        ),
        "onnx": lambda: load_classifier(f"onnx:{small.onnx_file(tmp_path / 'net.onnx', bias=float('nan'))}"),
        "python": Lost,
    }[kind]()
    with pytest.raises(ClassifierUnavailable, match="no numbers"):
        rehearse(classifier, 32)


def test_labels_that_lack_a_category_are_refused(tmp_path: Path) -> None:
    path = small.export_file(tmp_path / "net.pt2", labels=[f"class {number}" for number in range(16)])
    with pytest.raises(InvalidInput, match="No label stands for airplane.*mapping file"):
        rehearse(load_classifier(f"export:{path}"), 32)


def test_a_stimulus_without_recorded_prediction_is_refused(made: dict[str, Made]) -> None:
    with pytest.raises(TableRefused, match="1 of 2 stimuli have no row, the first is 'missing'"):
        classify(made["table"].load(), ["a", "missing"], lambda: np.zeros((0, 1, 1, 3), np.uint8))


def test_a_backbone_without_classifier_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = small.hf_folder(tmp_path / "vit")
    weights = load_file(folder / "model.safetensors")
    save_file(
        {name: value for name, value in weights.items() if not name.startswith("classifier")},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    with pytest.raises(ClassifierUnavailable, match="lacks weights of its classifier"):
        load_classifier(f"hf:{folder}")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hf:nobody/nothing", "is not on this machine: allow the download"),
        ("open_clip:ViT-B-32/laion2b_s34b_b79k", "is not on this machine|are not on this machine"),
        ("open_clip:ViT-B-32/laion9", "TAG is one of openai, "),
        ("open_clip:ViT-Z/laion2b", "no network 'ViT-Z'"),
        ("open_clip:ViT-B-32@gone.pt", "no file gone.pt"),
        ("timm:resnet50.a1_in1k", "are not on this machine: allow the download"),
        ("torchvision:resnet50@IMAGENET1K_V2", "are not on this machine: allow the download"),
        ("onnx:gone.onnx", "there is no such program"),
    ],
)
def test_what_is_not_here_is_never_fetched_unasked(
    spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    with pytest.raises(ClassifierUnavailable, match=message):
        load_classifier(spec)


def test_an_onnx_network_that_takes_no_pictures_is_refused(tmp_path: Path) -> None:
    path = small.onnx_file(tmp_path / "net.onnx", input_px=224)
    with pytest.raises(ClassifierUnavailable, match=r"not one float input of shape \(n, 3, 224, 224\)"):
        load_classifier(f"onnx:{path}")


def test_every_network_is_frozen(made: dict[str, Made]) -> None:
    for kind in TORCH:
        network = made[kind].loaded
        assert isinstance(network, TorchNetwork)
        assert not any(weight.requires_grad for weight in network.forward.parameters())  # type: ignore[attr-defined]
