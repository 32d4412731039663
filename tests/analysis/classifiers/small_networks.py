"""Small networks with random weights, made on the spot: one for every kind of adapter."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from analysis.classifiers.weights import import_torchvision
from analysis.labels.files import default_labels
from tests.labels import label_at

DESCRIPTION: dict[str, Any] = {
    "labels": list(default_labels().ids),
    "input_px": 32,
    "mean": [0.5, 0.5, 0.5],
    "std": [0.25, 0.25, 0.25],
    "outputs": "logits",
}


def small_module(n_labels: int = 16, *, bias: float = 0.0) -> torch.nn.Module:
    torch.manual_seed(3)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 4, stride=4),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(8 * 8 * 8, n_labels),
    )
    with torch.no_grad():
        network[-1].bias += bias
    return network.eval()


def describe(path: Path, **changes: Any) -> Path:
    path.with_suffix(".json").write_text(json.dumps(DESCRIPTION | changes))
    return path


def mapping_file(folder: Path, rows: Sequence[tuple[str, str]] | None = None) -> Path:
    path = folder / "labels.csv"
    lines = [
        f"{label},{category}" for label, category in rows or [(f"my {name}", name) for name in default_labels().ids]
    ]
    path.write_text("label,category\n" + "\n".join(lines) + "\n")
    return path


def export_file(path: Path, network: torch.nn.Module | None = None, **changes: Any) -> Path:
    batch = torch.export.Dim("batch", min=1, max=4096)
    module = network or small_module()
    torch.export.save(torch.export.export(module, (torch.zeros(2, 3, 32, 32),), dynamic_shapes=({0: batch},)), path)
    return describe(path, **changes)


def onnx_file(path: Path, *, n_labels: int = 16, batch: int | str = "n", bias: float = 0.0, **changes: Any) -> Path:
    """Mean colour in a grid of 4 x 4 fields, then a linear layer."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(2)
    weights = rng.standard_normal((48, n_labels)).astype(np.float32)
    nodes = [
        helper.make_node("AveragePool", ["pictures"], ["fields"], kernel_shape=[8, 8], strides=[8, 8]),
        helper.make_node("Flatten", ["fields"], ["flat"]),
        helper.make_node("Gemm", ["flat", "weights", "bias"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "fields",
        [helper.make_tensor_value_info("pictures", TensorProto.FLOAT, [batch, 3, 32, 32])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [batch, n_labels])],
        [
            numpy_helper.from_array(weights, "weights"),
            numpy_helper.from_array(np.full(n_labels, bias, np.float32), "bias"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return describe(path, **changes)


def hf_folder(path: Path, *, labels: Sequence[str] = default_labels().ids) -> Path:
    import_torchvision()
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        image_size=32,
        patch_size=8,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    torch.manual_seed(1)
    network = ViTForImageClassification(config)
    torch.nn.init.normal_(network.classifier.weight)
    network.save_pretrained(path)
    settings = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3, "size": {"height": 32, "width": 32}}
    settings["image_processor_type"] = "ViTImageProcessor"
    (path / "preprocessor_config.json").write_text(json.dumps(settings))
    return path


def clip_folder(path: Path) -> Path:
    import_torchvision()
    from open_clip.model import CLIP

    vision = {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 16}
    text = {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 1}
    parts = {"embed_dim": 16, "vision_cfg": vision, "text_cfg": text}
    torch.manual_seed(1)
    path.mkdir()
    torch.save(CLIP(**parts).state_dict(), path / "open_clip_pytorch_model.bin")
    preprocessing = {"mean": [0.5] * 3, "std": [0.25] * 3}
    (path / "open_clip_config.json").write_text(json.dumps({"model_cfg": parts, "preprocess_cfg": preprocessing}))
    return path


def torchvision_weights(path: Path, n_labels: int = 16) -> Path:
    models = import_torchvision().models
    torch.manual_seed(1)
    network = models.get_model("squeezenet1_1", weights=None, num_classes=n_labels)
    torch.nn.init.normal_(network.classifier[1].weight)
    torch.save(network.state_dict(), path)
    return path


def timm_weights(path: Path, n_labels: int = 16) -> Path:
    import_torchvision()
    import timm

    torch.manual_seed(1)
    network = timm.create_model("test_vit", num_classes=n_labels)
    torch.nn.init.normal_(network.head.weight)
    torch.save({"state_dict": network.state_dict()}, path)
    return path


def prediction_table(path: Path, stimuli: Sequence[str]) -> Path:
    rows = [f"{stimulus},{label_at(number)},0.5" for number, stimulus in enumerate(stimuli)]
    path.write_text("stimulus,response,confidence\n" + "\n".join(rows) + "\n")
    return path


class LabClassifier:
    """What a researcher's own factory makes."""

    name, labels, label_space, digest, preprocessing = "lab", default_labels().ids, 16, "1" * 64, "mean of 4 x 4 fields"

    def predict(self, images: np.ndarray) -> np.ndarray:
        n, height, width, _ = images.shape
        fields = images.reshape(n, 4, height // 4, 4, width // 4, 3).mean(axis=(2, 4, 5)).reshape(n, 16)
        return (fields + 1) / (fields + 1).sum(axis=1, keepdims=True)


def make_lab_classifier(device: str) -> LabClassifier:
    return LabClassifier()
