"""Specs, adapters and what they say when something is not there."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.classifiers.exported import traced
from analysis.classifiers.loading import SCHEMES, load_classifier
from analysis.classifiers.port import Classifier, classify
from analysis.classifiers.preprocessing import Preprocessing
from analysis.errors import ClassifierUnavailable, InvalidInput, PictureRefused, UnknownName
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids
from tests.analysis.classifiers import small_networks as small
from tests.limits import LIMIT

has_torchvision = importlib.util.find_spec("torchvision") is not None
has_timm = importlib.util.find_spec("timm") is not None

DESCRIPTION: dict[str, Any] = {
    "labels": list(default_labels().ids),
    "input_px": 8,
    "mean": [0.0, 0.0, 0.0],
    "std": [1.0, 1.0, 1.0],
    "outputs": "probabilities",
}


class BorderBrightness(torch.nn.Module):
    """Answers the first label as surely as the outermost ring of its 8 x 8 input is bright."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        grey = x.mean(dim=1)
        ring = (grey.sum(dim=(1, 2)) - grey[:, 1:-1, 1:-1].sum(dim=(1, 2))) / 28
        rest = ((1 - ring) / 15).unsqueeze(1).expand(-1, 15)
        return torch.cat([ring.unsqueeze(1), rest], dim=1)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "ring.pt2"
    batch = torch.export.Dim("batch", min=1, max=4096)
    exported = torch.export.export(BorderBrightness(), (torch.zeros(2, 3, 8, 8),), dynamic_shapes=({0: batch},))
    torch.export.save(exported, path)
    path.with_suffix(".json").write_text(json.dumps(DESCRIPTION))
    return path


def loaded(spec: str, **options: Any) -> Classifier:
    classifier = load_classifier(spec, **options)
    assert isinstance(classifier, Classifier)
    return classifier


def test_an_exported_program_keeps_the_port(program: Path) -> None:
    classifier = loaded(f"export:{program}")
    assert (classifier.name, classifier.labels, classifier.label_space) == ("ring", default_labels().ids, 16)
    assert len(classifier.digest) == 64
    assert "whole picture resized to 8 x 8 px" in classifier.preprocessing
    pictures = np.random.default_rng(1).integers(0, 256, (130, 20, 20, 3), dtype=np.uint8)
    probabilities = classifier.predict(pictures)
    assert probabilities.dtype == np.float32
    assert probabilities.shape == (130, 16)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(130), abs=1e-5)
    assert np.array_equal(probabilities[70:72], classifier.predict(pictures[70:72]))
    assert classifier.predict(pictures[:0]).shape == (0, 16)


def test_a_network_sees_the_outermost_pixels(program: Path) -> None:
    """A default centre crop would cut this marker off; the whole shown picture is resized instead."""
    classifier = loaded(f"export:{program}")
    plain = np.full((1, 224, 224, 3), 100, dtype=np.uint8)
    marked = plain.copy()
    marked[:, :3] = marked[:, -3:] = marked[:, :, :3] = marked[:, :, -3:] = 255
    assert classifier.predict(marked)[0, 0] > classifier.predict(plain)[0, 0] + 0.05


def test_classify_asks_for_pictures_and_decides(program: Path) -> None:
    white = np.full((2, 224, 224, 3), 255, dtype=np.uint8)
    assert classify(loaded(f"export:{program}"), ["a", "b"], lambda: white).responses.tolist() == ["airplane"] * 2


@pytest.mark.parametrize(
    "pictures",
    [
        np.zeros((1, 8, 8, 3), dtype=np.float32),
        np.zeros((8, 8, 3), dtype=np.uint8),
        np.zeros((1, 3, 8, 8), dtype=np.uint8),
    ],
)
def test_anything_but_a_batch_of_rgb_pictures_is_refused(pictures: Any, program: Path) -> None:
    with pytest.raises(PictureRefused, match=r"uint8 pictures of shape \(n, h, w, 3\)"):
        loaded(f"export:{program}").predict(pictures)


def test_preprocessing_normalises_channels_first() -> None:
    picture = np.zeros((1, 2, 2, 3), dtype=np.uint8)
    picture[..., 1] = 255
    ready = Preprocessing(1, (0.5, 0.5, 0.0), (0.5, 0.25, 1.0)).apply(picture)
    assert ready.reshape(3).tolist() == [-1.0, 2.0, 0.0]


def test_shrinking_averages_the_whole_picture() -> None:
    picture = np.zeros((1, 4, 8, 3), dtype=np.uint8)
    picture[:, :, :2] = 200
    ready = Preprocessing(2, (0.0,) * 3, (1.0,) * 3).apply(picture)
    assert ready[0, 0] == pytest.approx(np.array([[100 / 255, 0], [100 / 255, 0]]))


@pytest.mark.parametrize(("size", "std"), [(0, (1.0, 1.0, 1.0)), (8, (1.0, 0.0, 1.0)), (8, (1.0, 1.0))])
def test_impossible_preprocessing_is_refused(size: int, std: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput):
        Preprocessing(size, (0.0, 0.0, 0.0), std)


@pytest.mark.parametrize(
    ("mean", "std"),
    [
        ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ((0.0,) * 3, (1.0,) * 3),
        ((0.0,) * 3, (1 / 255,) * 3),  # takes 0 to 255
        ((123.68 / 255, 116.78 / 255, 103.94 / 255), (1 / 255,) * 3),  # Caffe
        ((0.5,) * 3, (0.5,) * 3),  # -1 to 1
        ((-1.0,) * 3, (1.0,) * 3),
    ],
)
def test_every_honest_mean_and_std_can_be_written(mean: tuple[float, ...], std: tuple[float, ...]) -> None:
    assert Preprocessing(8, mean, std).mean == mean


@pytest.mark.parametrize(
    ("mean", "std", "remedy"),
    [
        ((127.5,) * 3, (63.75,) * 3, r"divide by 255, that is \(0.5, 0.5, 0.5\) and \(0.25, 0.25, 0.25\)"),
        (
            (103.94, 116.78, 123.68),
            (1.0,) * 3,
            r"that is \(0.4076, 0.458, 0.485\) and \(0.003922, 0.003922, 0.003922\)",
        ),
        ((0.0,) * 3, (255.0,) * 3, r"that is \(0, 0, 0\) and \(1, 1, 1\)"),
        ((123.68, 116.78, 103.94), (0.229, 0.224, 0.225), "mean is for RGB from 0 to 255, std for 0 to 1.*divide mean"),
        ((0.485, 0.456, 0.406), (58.4, 57.1, 57.4), "std is for RGB from 0 to 255, mean for 0 to 1.*divide std"),
        ((0.0019, 0.0018, 0.0016), (0.0009, 0.0009, 0.0009), "divided by 255 twice"),
        ((-127.5,) * 3, (127.5,) * 3, "these are for 0 to 255"),
        ((float("nan"),) * 3, (1.0,) * 3, "finite"),
        ((0.5,) * 3, (float("inf"),) * 3, "finite"),
    ],
)
def test_mean_and_std_of_other_units_are_refused_with_the_right_ones(
    mean: tuple[float, ...], std: tuple[float, ...], remedy: str
) -> None:
    with pytest.raises(InvalidInput, match=remedy):
        Preprocessing(8, mean, std)


@pytest.mark.parametrize("spec", ["resnet50", "keras:model", "export:", ":model", ""])
def test_an_unknown_scheme_is_refused_with_the_known_ones(spec: str) -> None:
    with pytest.raises(
        UnknownName, match="torchvision, timm, hf, open_clip, export, onnx, python, grey, readout, table"
    ):
        load_classifier(spec)


def test_the_schemes_are_those_promised() -> None:
    networks = ("lite", "torchvision", "timm", "hf", "open_clip", "export", "onnx")
    assert tuple(SCHEMES) == (*networks, "python", "grey", "readout", "table")


def test_a_program_needs_its_files(tmp_path: Path, program: Path) -> None:
    with pytest.raises(ClassifierUnavailable, match=r"gone\.pt2: there is no such program.*gone\.json"):
        load_classifier(f"export:{tmp_path / 'gone.pt2'}")
    with pytest.raises(ClassifierUnavailable, match=r"model\.onnx: .*\.pt2 file"):
        load_classifier(f"export:{tmp_path / 'model.onnx'}")
    (tmp_path / "alone.pt2").write_bytes(program.read_bytes())
    with pytest.raises(ClassifierUnavailable, match=r"alone\.json: there is no such description"):
        load_classifier(f"export:{tmp_path / 'alone.pt2'}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": None}, "field 'labels'"),
        ({"outputs": "odds"}, "field 'outputs': write logits or probabilities"),
        ({"std": [1, 0, 1]}, "input_px, mean or std cannot be used"),
        ({"mean": ["a", 0, 0]}, "input_px, mean or std cannot be used"),
    ],
)
def test_a_wrong_description_is_refused_by_field(
    change: dict[str, Any], message: str, tmp_path: Path, program: Path
) -> None:
    copy = tmp_path / "copy.pt2"
    copy.write_bytes(program.read_bytes())
    copy.with_suffix(".json").write_text(json.dumps(DESCRIPTION | change))
    with pytest.raises(ClassifierUnavailable, match=message):
        load_classifier(f"export:{copy}")


@pytest.mark.parametrize(
    ("text", "message"), [("{", "is not JSON"), ("[]", "not a JSON object"), ("{}", "'labels' is missing")]
)
def test_a_description_that_is_none_is_refused(text: str, message: str, tmp_path: Path, program: Path) -> None:
    copy = tmp_path / "copy.pt2"
    copy.write_bytes(program.read_bytes())
    copy.with_suffix(".json").write_text(text)
    with pytest.raises(ClassifierUnavailable, match=message):
        load_classifier(f"export:{copy}")


def test_a_broken_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.pt2").write_bytes(b"not a program")
    (tmp_path / "bad.json").write_text(json.dumps(DESCRIPTION))
    with pytest.raises(ClassifierUnavailable, match=r"bad\.pt2: torch\.export cannot read it"):
        load_classifier(f"export:{tmp_path / 'bad.pt2'}")


def test_imagenet_labels_of_the_wrong_width_are_found_when_it_predicts(tmp_path: Path, program: Path) -> None:
    copy = tmp_path / "copy.pt2"
    copy.write_bytes(program.read_bytes())
    copy.with_suffix(".json").write_text(json.dumps(DESCRIPTION | {"labels": "imagenet"}))
    classifier = loaded(f"export:{copy}")
    assert classifier.labels == class_ids()
    with pytest.raises(ClassifierUnavailable, match="1000 labels"):
        classifier.predict(np.zeros((1, 8, 8, 3), dtype=np.uint8))


@pytest.mark.parametrize("device", ["gpu", *([] if torch.cuda.is_available() else ["cuda"])])
def test_a_device_that_is_not_there_is_refused(device: str, program: Path) -> None:
    with pytest.raises(ClassifierUnavailable, match="cpu"):
        load_classifier(f"export:{program}", device=device)


class Numbered(torch.nn.Module):
    """A network that makes a tensor on its way, on the device of its input."""

    def __init__(self) -> None:
        super().__init__()
        self.fields, self.places = torch.nn.Conv2d(3, 4, 16, stride=16), torch.nn.Embedding(4, 4)
        self.answers = torch.nn.Linear(16, 16)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        seen = self.fields(pictures).flatten(2).transpose(1, 2)
        return self.answers((seen + self.places(torch.arange(4, device=pictures.device))).flatten(1))


def test_a_program_computes_wholly_on_the_device_asked_for(tmp_path: Path) -> None:
    """The device of tensors made on the way is written in the program: moving its weights alone is not enough."""
    path = small.export_file(tmp_path / "numbered.pt2", Numbered())
    loaded = load_classifier(f"export:{path}", device="meta")
    devices = {str(node.kwargs["device"]) for node in loaded.forward.graph.nodes if "device" in node.kwargs}
    assert devices == {"meta"} and loaded.forward(torch.zeros(2, 3, 32, 32, device="meta")).device.type == "meta"
    with pytest.raises(RuntimeError, match="device"):
        loaded.forward(torch.zeros(2, 3, 32, 32))


def test_a_network_that_learned_elsewhere_is_traced_where_it_is() -> None:
    program = traced(Numbered().to("meta"), 32)
    assert {value.device.type for value in program.state_dict.values()} == {"meta"}


def test_python_runs_only_when_code_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my_lab_classifier.py").write_text(
        "import numpy as np\n"
        "class Always:\n"
        "    name, labels, label_space, digest, preprocessing = 'always', ('cat', 'dog'), 2, '0', 'none'\n"
        "    def predict(self, images):\n"
        "        return np.tile(np.float32([1, 0]), (len(images), 1))\n"
        "def make(device):\n"
        "    return Always()\n"
        "def nothing(device):\n"
        "    return None\n"
    )
    with pytest.raises(ClassifierUnavailable, match="runs code and is not allowed here"):
        load_classifier("python:my_lab_classifier:make")
    assert "my_lab_classifier" not in sys.modules
    classifier = loaded("python:my_lab_classifier:make", allow_code=True)
    assert classifier.predict(np.zeros((3, 8, 8, 3), np.uint8)).tolist() == [[1, 0]] * 3
    for reference, message in (
        ("my_lab_classifier:nothing", "without name, labels"),
        ("my_lab_classifier:gone", "has no function gone"),
        ("my_lab_classifier", "write python:package.module:factory"),
        ("no_such_module_here:make", "cannot be imported"),
    ):
        with pytest.raises(ClassifierUnavailable, match=message):
            load_classifier(f"python:{reference}", allow_code=True)


@pytest.mark.skipif(has_torchvision, reason="torchvision is installed")
@pytest.mark.parametrize("spec", ["torchvision:resnet18", "timm:resnet18"])
def test_a_library_that_is_not_installed_is_named_with_its_remedy(spec: str) -> None:
    with pytest.raises(ClassifierUnavailable, match=r"pip install -r requirements/classifiers\.txt"):
        load_classifier(spec)


HALF_BUILT = """
import importlib.util, sys

class HalfBuilt:
    # A torchvision whose import fails as the common build's does on the CPU build of torch.
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name == "torchvision" else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        import torch
        if not hasattr(torch.ops.torchvision, "nms"):
            raise RuntimeError(message)

sys.meta_path.insert(0, HalfBuilt())
from analysis.classifiers.weights import MISSING_OPERATOR, import_torchvision
message = "another failure"
try:
    import_torchvision()
except RuntimeError as error:
    print("left alone:", error)
message = MISSING_OPERATOR
print("mended:", import_torchvision().__name__)
"""


@pytest.mark.process
def test_the_exact_failure_of_torchvisions_import_is_mended_and_no_other() -> None:
    ran = subprocess.run([sys.executable, "-c", HALF_BUILT], capture_output=True, text=True, check=True, timeout=LIMIT)
    assert ran.stdout.splitlines() == ["left alone: another failure", "mended: torchvision"]


@pytest.mark.skipif(not has_torchvision, reason="torchvision is not installed (requirements/classifiers.txt)")
def test_an_untrained_torchvision_network_answers_with_a_thousand_labels() -> None:
    classifier = loaded("torchvision:squeezenet1_1@random")
    assert classifier.label_space == 1000
    probabilities = classifier.predict(np.zeros((1, 224, 224, 3), np.uint8))
    assert probabilities.sum() == pytest.approx(1, abs=1e-4)
    assert classifier.digest == loaded("torchvision:squeezenet1_1@random").digest
    with pytest.raises(ClassifierUnavailable, match="no classification network 'resnet0'"):
        load_classifier("torchvision:resnet0")
    with pytest.raises(ClassifierUnavailable, match="IMAGENET1K_V1, .*random"):
        load_classifier("torchvision:squeezenet1_1@IMAGENET9")


@pytest.mark.skipif(not has_timm, reason="timm is not installed (requirements/classifiers.txt)")
def test_an_untrained_timm_network_answers_with_a_thousand_labels() -> None:
    classifier = loaded("timm:mobilenetv3_small_050@random")
    assert classifier.predict(np.zeros((1, 224, 224, 3), np.uint8)).shape == (1, 1000)
    with pytest.raises(ClassifierUnavailable, match="no network 'resnet0'"):
        load_classifier("timm:resnet0")
    with pytest.raises(ClassifierUnavailable, match="no file gone"):
        load_classifier("timm:mobilenetv3_small_050@gone.safetensors")
