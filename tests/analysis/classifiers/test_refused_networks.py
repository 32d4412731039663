"""Networks that cannot be used are refused by name, with a remedy; code in a file of weights is never run."""

from __future__ import annotations

import json
import os
import pickle
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.port import rehearse
from analysis.errors import ClassifierUnavailable, TableRefused
from tests.analysis.classifiers import small_networks as small


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


class Settings:
    """What a training leaves beside the weights."""

    lr = 0.1


def _in_front(prefix: str) -> Any:
    return lambda state: {f"{prefix}{name}": value for name, value in state.items()}


LAYOUTS: dict[str, Any] = {
    "bare": lambda state: state,
    "state_dict": lambda state: {"epoch": 3, "state_dict": state},
    "model_state_dict": lambda state: {"epoch": 3, "model_state_dict": state, "optimizer": {"state": {}}},
    "model": lambda state: {"model": state, "optimizer": {}, "args": Settings()},
    "model_ema": lambda state: {"model_ema": {"n_averaged": torch.tensor(7), **_in_front("module.")(state)}},
    "module.": _in_front("module."),
    "_orig_mod.": _in_front("_orig_mod."),
    "module.model.": _in_front("module.model."),
    "lightning": lambda state: {
        "state_dict": {**_in_front("model.")(state), "loss.weight": torch.ones(3)},
        "loops": {},
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_checkpoints_of_usual_trainings_are_read(layout: str, tmp_path: Path) -> None:
    path = small.timm_weights(tmp_path / "weights.pt", 1000)
    expected = load_classifier(f"timm:test_vit@{path}").digest
    torch.save(LAYOUTS[layout](torch.load(path, weights_only=True)["state_dict"]), tmp_path / "other.ckpt")
    found = load_classifier(f"timm:test_vit@{tmp_path / 'other.ckpt'}").digest
    assert found == expected != load_classifier("timm:test_vit@random").digest


SEVERAL: dict[str, Any] = {
    "model_ema": lambda state, average: {"model": state, "model_ema": average},
    "state_dict_ema": lambda state, average: {"state_dict": state, "state_dict_ema": average},
    "ema": lambda state, average: {"model": state, "ema": {"module": average}},
    "teacher": lambda state, average: {"student": state, "teacher": average},
    "state_dict:net.": lambda state, average: {
        "state_dict": {**_in_front("model.")(state), **_in_front("net.")(average)}
    },
}


@pytest.mark.parametrize("place", SEVERAL)
def test_which_of_several_sets_of_weights_is_meant_must_be_said(place: str, tmp_path: Path) -> None:
    path = small.timm_weights(tmp_path / "weights.pt", 1000)
    state = torch.load(path, weights_only=True)["state_dict"]
    average = {name: value * 0.5 for name, value in state.items()}
    torch.save(SEVERAL[place](state, average), tmp_path / "both.pt")
    with pytest.raises(ClassifierUnavailable, match=rf"both.pt holds several sets of weights.*'{place}'.*both.json"):
        load_classifier(f"timm:test_vit@{tmp_path / 'both.pt'}")
    (tmp_path / "both.json").write_text(json.dumps({"weights": place}))
    torch.save(average, tmp_path / "average.pt")
    found = load_classifier(f"timm:test_vit@{tmp_path / 'both.pt'}").digest
    assert found == load_classifier(f"timm:test_vit@{tmp_path / 'average.pt'}").digest
    (tmp_path / "both.json").write_text(json.dumps({"weights": "best"}))
    with pytest.raises(ClassifierUnavailable, match="both.json, field 'weights': 'best' is none of the sets"):
        load_classifier(f"timm:test_vit@{tmp_path / 'both.pt'}")


def test_one_set_of_weights_in_two_places_is_no_question(tmp_path: Path) -> None:
    path = small.timm_weights(tmp_path / "weights.pt", 1000)
    state = torch.load(path, weights_only=True)["state_dict"]
    torch.save({"model": state, "model_ema": state}, tmp_path / "both.pt")
    found = load_classifier(f"timm:test_vit@{tmp_path / 'both.pt'}").digest
    assert found == load_classifier(f"timm:test_vit@{path}").digest


@pytest.mark.parametrize("kind", ["hf", "open_clip"])
def test_two_sets_of_weights_in_a_folder_are_refused_unless_they_are_the_same(kind: str, tmp_path: Path) -> None:
    folder = {"hf": small.hf_folder, "open_clip": small.clip_folder}[kind](tmp_path / "net")
    whole, pickled = {
        "hf": ("model.safetensors", "pytorch_model.bin"),
        "open_clip": ("open_clip_model.safetensors", "open_clip_pytorch_model.bin"),
    }[kind]
    before = load_classifier(f"{kind}:{folder}").digest
    if kind == "hf":
        state = load_file(folder / whole)
        torch.save(state, folder / pickled)
    else:
        state = torch.load(folder / pickled, weights_only=True)
        save_file(state, folder / whole)
    assert load_classifier(f"{kind}:{folder}").digest == before
    torch.save({name: value * 0.5 for name, value in state.items()}, folder / pickled)
    with pytest.raises(ClassifierUnavailable, match=rf"two sets of weights that differ, {whole} and {pickled}"):
        load_classifier(f"{kind}:{folder}")


@pytest.mark.parametrize(
    ("wrap", "sentence"),
    [
        (_in_front("student.backbone."), "with 'student.backbone.' in front, which is no layout"),
        (lambda state: {"a.weight": torch.ones(2)}, "none of this network: it begins with 'a.weight'"),
        (lambda state: {"epoch": 3}, "holds no weights"),
        (lambda state: dict(list(state.items())[1:]), "another network's weights.* is missing"),
        (lambda state: {**state, "more.weight": torch.ones(2)}, "more.weight is too many"),
    ],
)
def test_another_network_is_told_from_another_layout(wrap: Any, sentence: str, tmp_path: Path) -> None:
    path = small.timm_weights(tmp_path / "weights.pt", 1000)
    torch.save(wrap(torch.load(path, weights_only=True)["state_dict"]), path)
    with pytest.raises(ClassifierUnavailable, match=sentence):
        load_classifier(f"timm:test_vit@{path}")


def test_the_code_of_a_training_beside_the_weights_is_not_run(tmp_path: Path) -> None:
    path = small.timm_weights(tmp_path / "weights.pt", 1000)
    state = torch.load(path, weights_only=True)["state_dict"]
    torch.save({"model": state, "args": Sneaky(str(tmp_path / "written"))}, path)
    load_classifier(f"timm:test_vit@{path}")
    assert not (tmp_path / "written").exists()


def test_mean_and_deviation_may_be_given_beside_the_weights(tmp_path: Path) -> None:
    path = small.timm_weights(tmp_path / "weights.pt", 1000)
    usual = load_classifier(f"timm:test_vit@{path}")
    path.with_suffix(".json").write_text(json.dumps({"mean": [0.1, 0.2, 0.3], "std": [1, 1, 0.5]}))
    own = load_classifier(f"timm:test_vit@{path}")
    assert own.inputs.mean == (0.1, 0.2, 0.3) and own.inputs.input_px == usual.inputs.input_px  # type: ignore[union-attr]
    assert own.digest != usual.digest
    path.with_suffix(".json").write_text(json.dumps({"std": [1, 0, 1]}))
    with pytest.raises(ClassifierUnavailable, match=r"weights\.json: input_px, mean or std cannot be used"):
        load_classifier(f"timm:test_vit@{path}")


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
