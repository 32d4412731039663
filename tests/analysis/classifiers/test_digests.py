"""Every file that has a part in a network's answers has one in its digest."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper
from safetensors.torch import load_file, save_file

from analysis.classifiers.loading import load_classifier
from analysis.errors import ClassifierUnavailable
from analysis.labels.files import default_labels
from tests.analysis.classifiers import small_networks as small


def digest(spec: str) -> str:
    return load_classifier(spec).digest


def _one_file(model: Any, path: Path) -> list[str]:
    onnx.save(model, path, save_as_external_data=True, location="net.weights", size_threshold=0)
    return ["net.weights"]


def _file_for_each(model: Any, path: Path) -> list[str]:
    onnx.save(model, path, save_as_external_data=True, all_tensors_to_one_file=False, size_threshold=0)
    return ["weights", "bias"]


def _below(model: Any, path: Path) -> list[str]:
    (path.parent / "shards").mkdir(exist_ok=True)
    onnx.save(model, path, save_as_external_data=True, location="shards/a.bin", size_threshold=100)
    return ["shards/a.bin"]


def _in_a_constant(model: Any, path: Path) -> list[str]:
    """Weights as an attribute of a node, not among the graph's own."""
    (weights,) = [one for one in model.graph.initializer if one.name == "weights"]
    model.graph.initializer.remove(weights)
    model.graph.node.insert(0, helper.make_node("Constant", [], ["weights"], value=weights))
    onnx.external_data_helper.set_external_data(model.graph.node[0].attribute[0].t, "constant.bin")
    (path.parent / "constant.bin").write_bytes(weights.raw_data)
    model.graph.node[0].attribute[0].t.ClearField("raw_data")
    model.graph.node[0].attribute[0].t.data_location = TensorProto.EXTERNAL
    path.write_bytes(model.SerializeToString())
    return ["constant.bin"]


@pytest.mark.parametrize("save", [_one_file, _file_for_each, _below], ids=["one file", "one each", "a sub-folder"])
def test_an_onnx_networks_digest_covers_the_files_beside_it(tmp_path: Path, save: Any) -> None:
    path = small.onnx_file(tmp_path / "net.onnx", bias=1.0)
    alone = digest(f"onnx:{path}")
    files = save(onnx.load(path), path)
    before = digest(f"onnx:{path}")
    assert before == digest(f"onnx:{path}") != alone
    for name in files:
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(bytes(4) + content[4:])
        assert digest(f"onnx:{path}") != before, name
        (tmp_path / name).write_bytes(content)
    for name in files:
        (tmp_path / name).rename(tmp_path / "away")
        with pytest.raises(ClassifierUnavailable, match=rf"net.onnx: its weights stand in {name}, and there is no"):
            load_classifier(f"onnx:{path}")
        (tmp_path / "away").rename(tmp_path / name)


def test_weights_in_a_node_are_found(tmp_path: Path) -> None:
    path = small.onnx_file(tmp_path / "net.onnx")
    (name,) = _in_a_constant(onnx.load(path), path)
    (tmp_path / name).unlink()
    with pytest.raises(ClassifierUnavailable, match=r"its weights stand in constant.bin"):
        load_classifier(f"onnx:{path}")


@pytest.mark.parametrize("location", ["../net.data", "/etc/passwd", "a/../../b", "..\\net.data", "C:\\net.data", ""])
def test_weights_outside_of_the_folder_are_refused(tmp_path: Path, location: str) -> None:
    path = small.onnx_file(tmp_path / "net.onnx")
    model = onnx.load(path, load_external_data=False)
    onnx.external_data_helper.set_external_data(model.graph.initializer[0], location)
    model.graph.initializer[0].data_location = TensorProto.EXTERNAL
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ClassifierUnavailable, match=r"net.onnx: its weights stand in .* leads out of its folder"):
        load_classifier(f"onnx:{path}")


def test_a_graph_within_graphs_without_end_is_refused(tmp_path: Path) -> None:
    path = small.onnx_file(tmp_path / "net.onnx")
    content = b""
    for _ in range(200):  # a graph in an attribute of a node of a graph, and so on
        for field in (6, 5, 1):
            length, size = len(content), b""
            while length >= 128:
                size, length = size + bytes([length & 127 | 128]), length >> 7
            content = bytes([field << 3 | 2]) + size + bytes([length]) + content
    length, size = len(content), b""
    while length >= 128:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    path.write_bytes(b"\x08\x09\x3a" + size + bytes([length]) + content)
    with pytest.raises(ClassifierUnavailable, match=r"net.onnx: the graph is damaged"):
        load_classifier(f"onnx:{path}")


@pytest.mark.parametrize("kind", ["export", "onnx"])
def test_the_mapping_file_that_a_description_names_counts(tmp_path: Path, kind: str) -> None:
    rows = [(name, name) for name in default_labels().ids]
    small.mapping_file(tmp_path, rows)
    make = {"export": small.export_file, "onnx": small.onnx_file}[kind]
    path = make(tmp_path / f"net.{'pt2' if kind == 'export' else 'onnx'}", labels="labels.csv")
    before = digest(f"{kind}:{path}")
    small.mapping_file(tmp_path, [*rows[1:], rows[0]])
    assert digest(f"{kind}:{path}") != before


def test_a_copy_elsewhere_is_the_same_network(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    path = small.onnx_file(tmp_path / "a" / "net.onnx")
    _one_file(onnx.load(path), path)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert digest(f"onnx:{path}") == digest(f"onnx:{tmp_path / 'b' / 'net.onnx'}")


@pytest.mark.parametrize(
    ("kind", "file", "old", "new"),
    [
        ("hf", "config.json", '"gelu"', '"relu"'),
        ("hf", "config.json", '"0": "airplane"', '"0": "truck"'),
        ("hf", "preprocessor_config.json", "0.5", "0.4"),
        ("open_clip", "open_clip_config.json", '"head_width": 16', '"head_width": 8'),
    ],
)
def test_settings_files_of_a_folder_count(tmp_path: Path, kind: str, file: str, old: str, new: str) -> None:
    folder = {"hf": small.hf_folder, "open_clip": small.clip_folder}[kind](tmp_path / "net")
    before = digest(f"{kind}:{folder}")
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    assert digest(f"{kind}:{folder}") != before


def test_weights_in_parts_count_and_a_missing_part_is_refused(tmp_path: Path) -> None:
    folder = small.hf_folder(tmp_path / "net")
    whole = digest(f"hf:{folder}")
    state = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    parts = {f"model-{number:05d}-of-00002.safetensors": names for number, names in enumerate(_halves(state), start=1)}
    for part, names in parts.items():
        save_file({name: state[name] for name in names}, folder / part, metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": {name: part for part, names in parts.items() for name in names}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert digest(f"hf:{folder}") == whole
    last = list(parts)[-1]
    save_file({name: state[name] * 0.5 for name in parts[last]}, folder / last, metadata={"format": "pt"})
    assert digest(f"hf:{folder}") != whole
    (folder / last).unlink()
    with pytest.raises(ClassifierUnavailable, match=last):
        load_classifier(f"hf:{folder}")


def _halves(state: dict[str, Any]) -> tuple[list[str], list[str]]:
    names = sorted(state)
    return names[: len(names) // 2], names[len(names) // 2 :]
