"""Adapter ``onnx:PATH.onnx``: an ONNX network and, beside it, PATH.json, which says what goes in and out."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.arithmetic import BATCH, is_accelerator
from analysis.classifiers.description import check_outputs, probing_pictures, read_beside
from analysis.classifiers.onnx_files import digest_of
from analysis.classifiers.preprocessing import Preprocessing, check_images
from analysis.classifiers.torchvision_import import INSTALL
from analysis.errors import ClassifierUnavailable

#: Pictures that go through a network at once on a processor, where it does not fix their number itself: of
#: EfficientNet-Lite0, 64 take as long for each and 1.4 GB more memory.
PROCESSOR_BATCH = 4


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


def load(reference: str, *, device: str = "cpu", labels: tuple[str, ...] | None = None) -> OnnxNetwork:
    """Load a network and its description.

    Raises
    ------
    ClassifierUnavailable
        If ONNX Runtime or a file is missing, the file is damaged, or the network takes something else than pictures.
    """
    path = Path(reference)
    if path.suffix != ".onnx":
        raise ClassifierUnavailable(f"{path}: an ONNX network is a .onnx file.")
    described, content = read_beside(path, how_to_make="Export the network with torch.onnx.export")
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
        batch=batch if is_fixed else BATCH if is_accelerator(device) else PROCESSOR_BATCH,
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
        raise ClassifierUnavailable(f"onnxruntime is not installed: {INSTALL}") from error
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
