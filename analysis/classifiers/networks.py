"""A torch network behind the classifier port."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.categories import CATEGORIES
from analysis.classifiers.decision import columns_of_categories
from analysis.classifiers.preprocessing import Preprocessing, check_images
from analysis.errors import ClassifierUnavailable
from analysis.extras import install

#: Pictures that go through a network at once.
BATCH = 64


@dataclass(frozen=True, slots=True)
class TorchNetwork:
    """A callable from a normalised float tensor (n, 3, s, s) to outputs (n, k), as a `Classifier`.

    Attributes
    ----------
    forward : callable
        A ``torch.nn.Module`` whose weights ask for no gradients.
    device : str
        "cpu", "cuda" or "cuda:1".
    outputs : {"logits", "probabilities"}
        What ``forward`` puts out.
    full_precision : bool
        Compute in float32 on CUDA too, where `predict` otherwise mixes float16 in.
    """

    name: str
    labels: tuple[str, ...]
    digest: str
    inputs: Preprocessing
    forward: Callable[[Any], Any]
    device: str = "cpu"
    outputs: Literal["logits", "probabilities"] = "logits"
    full_precision: bool = False

    @property
    def label_space(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @property
    def preprocessing(self) -> str:
        """What is done to a picture, in words."""
        return str(self.inputs)

    @property
    def precision(self) -> str:
        """Numbers that `predict` computes with, in words."""
        return "mixed float16" if self._mixes_precision else "float32"

    @property
    def _mixes_precision(self) -> bool:
        return self.device.startswith("cuda") and not self.full_precision

    def predict(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Probabilities, shape (n, k), of RGB pictures, shape (n, h, w, 3).

        Raises
        ------
        PictureRefused
            If the batch is not uint8 (n, h, w, 3).
        ClassifierUnavailable
            If the network's output has another width than its labels, or is not finite.
        """
        import torch

        check_images(images)
        parts: list[NDArray[np.float32]] = []
        with torch.inference_mode(), torch.autocast("cuda", torch.float16, enabled=self._mixes_precision):
            for start in range(0, len(images), BATCH):
                batch = torch.from_numpy(images[start : start + BATCH]).to(self.device, non_blocking=True)
                outputs = self._outputs(batch.permute(0, 3, 1, 2).float().div_(255)).float()
                probabilities = torch.softmax(outputs, dim=1) if self.outputs == "logits" else outputs
                parts.append(np.asarray(probabilities.cpu().numpy(), dtype=np.float32))
        result = np.concatenate(parts) if parts else np.zeros((0, len(self.labels)), dtype=np.float32)
        if not np.isfinite(result).all():
            picture = int(np.argmin(np.isfinite(result).all(axis=1)))
            raise ClassifierUnavailable(
                f"{self.name} puts out values that are no numbers (NaN or infinite), first for picture {picture + 1} "
                f"of {len(images)}. Check its weights and its mean and std."
            )
        return result

    def logits(self, pictures: Any) -> Any:
        """Differentiable outputs, a tensor of shape (n, k).

        Parameters
        ----------
        pictures : torch.Tensor
            Float, shape (n, 3, h, w), RGB in [0, 1], on `device`; resized and normalised as `predict` does.

        Returns
        -------
        torch.Tensor
            Logits; of a network that puts out probabilities, their logarithms.
        """
        outputs = self._outputs(pictures)
        return outputs if self.outputs == "logits" else outputs.clamp_min(1e-12).log()

    def category_logits(self, pictures: Any) -> Any:
        """Logarithm of the 16-way scores, a differentiable tensor of shape (n, 16), in the order of `CATEGORIES`.

        The score of a category is the mean probability of its labels, as in `category_scores`: the category with the
        largest value is the 16-way decision, whatever labels the network has.
        """
        import torch

        scores = self.logits(pictures).log_softmax(dim=1)
        if self.labels == CATEGORIES:
            return scores
        columns = columns_of_categories(self.labels)
        means = [scores[:, found].logsumexp(dim=1) - float(np.log(len(found))) for found in columns]
        return torch.stack(means, dim=1)

    def _outputs(self, pictures: Any) -> Any:
        outputs = self.forward(self.inputs.apply_to_tensor(pictures))
        if outputs.ndim != 2 or outputs.shape[1] != len(self.labels):
            raise ClassifierUnavailable(
                f"{self.name} puts out {tuple(outputs.shape[1:])} values a picture but names "
                f"{len(self.labels)} labels. Correct the labels."
            )
        return outputs


def require_gradients(classifier: object) -> TorchNetwork:
    """The classifier as a torch network that can be differentiated.

    Raises
    ------
    ClassifierUnavailable
        If it is none.
    """
    if not isinstance(classifier, TorchNetwork):
        name = getattr(classifier, "name", "It")
        raise ClassifierUnavailable(
            f"{name} gives no gradients: use torchvision:, timm:, hf:, open_clip: or export: (an ONNX network can be "
            "exported by torch.export where it was trained)."
        )
    return classifier


def frozen(network: Any, device: str) -> Any:
    """The module ready to predict on a device: evaluation mode, no gradients of weights."""
    return network.eval().requires_grad_(False).to(device)


def check_device(device: str) -> None:
    """Refuse a device that this machine lacks, before anything is loaded.

    Raises
    ------
    ClassifierUnavailable
        If the name is no device, CUDA is asked for and absent, or torch is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise ClassifierUnavailable(f"PyTorch is not installed: {install('torch')}.") from error

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
