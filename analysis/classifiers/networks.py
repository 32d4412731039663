"""A torch network behind the classifier port."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.port import Preprocessing, check_images
from analysis.errors import ClassifierUnavailable

#: Pictures that go through a network at once.
BATCH = 64


@dataclass(frozen=True, slots=True)
class TorchNetwork:
    """A callable from a normalised float tensor (n, 3, s, s) to outputs (n, k), as a `Classifier`."""

    name: str
    labels: tuple[str, ...]
    digest: str
    inputs: Preprocessing
    forward: Callable[[Any], Any]
    device: str = "cpu"
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
        import torch

        check_images(images)
        parts: list[NDArray[np.float32]] = []
        with torch.inference_mode():
            for start in range(0, len(images), BATCH):
                batch = torch.from_numpy(self.inputs.apply(images[start : start + BATCH])).to(self.device)
                outputs = self.forward(batch)
                if outputs.ndim != 2 or outputs.shape[1] != len(self.labels):
                    raise ClassifierUnavailable(
                        f"{self.name} puts out {tuple(outputs.shape[1:])} values a picture but names "
                        f"{len(self.labels)} labels. Correct the labels."
                    )
                probabilities = torch.softmax(outputs, dim=1) if self.outputs == "logits" else outputs
                parts.append(np.asarray(probabilities.float().cpu().numpy(), dtype=np.float32))
        return np.concatenate(parts) if parts else np.zeros((0, len(self.labels)), dtype=np.float32)


def check_device(device: str) -> None:
    """Refuse a device that this machine lacks, before anything is loaded.

    Raises
    ------
    ClassifierUnavailable
        If the name is no device, or CUDA is asked for and absent.
    """
    import torch

    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise ClassifierUnavailable(f"{device!r} is no device: write cpu, cuda or cuda:0.") from error
    if kind == "cuda" and not torch.cuda.is_available():
        raise ClassifierUnavailable("This machine has no CUDA device that torch can use: ask for device cpu.")


def weights_digest(state: dict[str, Any], *, also: str) -> str:
    """SHA-256 over a state dictionary's names, shapes and values, and over the preprocessing in words."""
    digest = hashlib.sha256(also.encode())
    for name in sorted(state):
        values = state[name].detach().cpu().contiguous().numpy()
        digest.update(f"{name} {values.dtype} {values.shape}".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()
