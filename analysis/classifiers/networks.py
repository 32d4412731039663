"""A torch network behind the classifier port, and how it computes on an accelerator."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.preprocessing import Preprocessing, check_images
from analysis.errors import ClassifierUnavailable, install
from analysis.labels.mapping import mapping_of
from analysis.labels.space import LabelSpace

#: Numbers that a network computes with on CUDA: exact float32, float32 with products rounded as TF32, or float16 or
#: bfloat16 mixed in by torch's autocast.
Precision = Literal["float32", "tf32", "float16", "bfloat16"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
#: Pictures that are read at once for a processor, and that go through a network at once at first on an accelerator.
BATCH = 64
#: Pictures that go through a network at once on a processor: what they need between layers stays in its caches. With
#: 64, EfficientNet-Lite0 takes up to twice as long for each picture, and 1.4 GB more memory.
PROCESSOR_BATCH = 4
#: Pictures that ever go through at once.
MOST_BATCH = 512
#: A batch of twice the size must bring so many times the pictures per second.
_GAIN = 1.05
_ROUNDS = 3


def is_accelerator(device: str) -> bool:
    """Whether networks on a device compute in other sums, or another precision, than on a processor."""
    return device.partition(":")[0] != "cpu"


def pictures_at_once(device: str) -> int:
    """Pictures that go through a network at once: on a processor always, on an accelerator at first."""
    return BATCH if is_accelerator(device) else PROCESSOR_BATCH


def check_precision(precision: str, device: str) -> None:
    """Refuse a precision that does not exist, or that a processor does not offer.

    Raises
    ------
    ClassifierUnavailable
        Naming those that there are.
    """
    if precision not in PRECISIONS:
        raise ClassifierUnavailable(f"There is no precision {precision!r}; there are: {', '.join(PRECISIONS)}.")
    if precision != "float32" and not is_accelerator(device):
        raise ClassifierUnavailable(f"A processor computes in float32: leave out {precision}, or ask for device cuda.")


@contextmanager
def arithmetic(device: str, precision: Precision) -> Iterator[None]:
    """For the time of the block, torch computes on the device in this precision.

    Exact float32 has to be asked for: torch rounds the products of convolutions as TF32 unless it is told.
    """
    if not device.startswith("cuda"):
        yield
        return
    import torch

    settings = (torch.backends.cudnn.conv, torch.backends.cuda.matmul)
    before = [setting.fp32_precision for setting in settings]
    with ExitStack() as stack:
        for setting, value in zip(settings, before, strict=True):
            stack.callback(setattr, setting, "fp32_precision", value)
            setting.fp32_precision = "tf32" if precision == "tf32" else "ieee"
        if precision in ("float16", "bfloat16"):
            stack.enter_context(torch.autocast("cuda", getattr(torch, precision)))
        yield


def fastest_batch(predict: Callable[[Any], Any], shape: tuple[int, ...], device: str) -> int:
    """Number of pictures of a shape that a network on an accelerator classifies at once.

    Doubled while that is faster and fits into the device's memory.
    """
    import torch

    def rate(n_pictures: int) -> float:
        pictures = torch.zeros((n_pictures, *shape), dtype=torch.uint8, device=device)
        predict(pictures).sum().item()
        started = time.perf_counter()
        for _ in range(_ROUNDS):
            answers = predict(pictures)
        answers.sum().item()  # waits until the device is done
        return _ROUNDS * n_pictures / (time.perf_counter() - started)

    return doubled_while_faster(rate, torch.OutOfMemoryError)


def doubled_while_faster(rate: Callable[[int], float], out_of_memory: type[BaseException]) -> int:
    """The last size, doubled from `BATCH`, that brought clearly more pictures per second."""
    best, best_rate, size = 1, 0.0, BATCH
    while size <= MOST_BATCH:
        try:
            found = rate(size)
        except out_of_memory:
            break
        if best_rate and found < _GAIN * best_rate:
            break
        best, best_rate, size = size, found, 2 * size
    return best


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
    precision : {"float32", "tf32", "float16", "bfloat16"}
        Numbers that `predict` computes with on CUDA; on a processor always float32.
    learned : frozenset of str
        Digests of the pixels of pictures that it learned from, as far as they are known: it is not tested on these.
    facts : dict of str to str
        What else is known of it, kept with its predictions.
    batches : dict
        Pictures that go through at once on CUDA, by their shape and the precision, as they were found.
    """

    name: str
    labels: tuple[str, ...]
    digest: str
    inputs: Preprocessing
    forward: Callable[[Any], Any]
    device: str = "cpu"
    outputs: Literal["logits", "probabilities"] = "logits"
    precision: Precision = "float32"
    learned: frozenset[str] = field(default=frozenset(), repr=False)
    facts: dict[str, str] = field(default_factory=dict, compare=False)
    batches: dict[tuple[object, ...], int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def label_space(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @property
    def preprocessing(self) -> str:
        """What is done to a picture, in words."""
        return str(self.inputs)

    @property
    def batch(self) -> int | None:
        """Pictures that go through at once: on a processor always as many, so that sums are rounded alike."""
        return None if is_accelerator(self.device) else PROCESSOR_BATCH

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
        with torch.inference_mode():
            parts = self._parts(torch.from_numpy(images), self._batch(images.shape))
            result = np.asarray(
                torch.cat(parts).cpu().numpy() if parts else np.zeros((0, len(self.labels))), np.float32
            )
        if not np.isfinite(result).all():
            picture = int(np.argmin(np.isfinite(result).all(axis=1)))
            raise ClassifierUnavailable(
                f"{self.name} puts out values that are no numbers (NaN or infinite), first for picture {picture + 1} "
                f"of {len(images)}. Check its weights and its mean and std."
            )
        return result

    def _parts(self, images: Any, step: int) -> list[Any]:
        """Probabilities, a tensor a batch, on the device; where its memory runs out, in smaller batches."""
        import torch

        try:
            return [self._probabilities(images[start : start + step]) for start in range(0, len(images), step)]
        except torch.OutOfMemoryError as error:
            if step == 1:
                raise ClassifierUnavailable(
                    f"{self.name} does not fit into the memory of {self.device}: free it, or ask for another device."
                ) from error
        torch.cuda.empty_cache()
        key = self._key(images.shape)
        self.batches[key] = step // 2
        return self._parts(images, step // 2)

    def _probabilities(self, images: Any) -> Any:
        import torch

        on_device = images.to(self.device, non_blocking=True)
        inputs = self.inputs.apply_to_tensor(on_device.permute(0, 3, 1, 2).float().div_(255))
        if is_accelerator(self.device):
            inputs = inputs.contiguous(memory_format=torch.channels_last)
        with arithmetic(self.device, self.precision):
            outputs = self._checked(self.forward(inputs)).float()
        return torch.softmax(outputs, dim=1) if self.outputs == "logits" else outputs

    def _key(self, shape: tuple[int, ...]) -> tuple[object, ...]:
        return (*shape[1:], self.precision, self.device)

    def _batch(self, shape: tuple[int, ...]) -> int:
        if self.batch:
            return self.batch
        key = self._key(shape)
        if key not in self.batches and shape[0] > BATCH:
            self.batches[key] = fastest_batch(self._probabilities, tuple(shape[1:]), self.device)
        return self.batches.get(key, BATCH)

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

    def label_logits(self, pictures: Any, space: LabelSpace) -> Any:
        """Logarithm of the scores of labels, a differentiable tensor of shape (n, labels), in the order of their ids.

        The score of a label is the mean probability of its outputs, as in `LabelMapping.scores`: the label with the
        largest value is the decision, whatever outputs the network has.
        """
        import torch

        scores = self.logits(pictures).log_softmax(dim=1)
        if self.labels == space.ids:
            return scores
        columns = mapping_of(tuple(self.labels), space).columns
        means = [scores[:, list(found)].logsumexp(dim=1) - float(np.log(len(found))) for found in columns]
        return torch.stack(means, dim=1)

    def _outputs(self, pictures: Any) -> Any:
        return self._checked(self.forward(self.inputs.apply_to_tensor(pictures)))

    def _checked(self, outputs: Any) -> Any:
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
    """The module ready to predict on a device: evaluation mode, no gradients of weights, channels last on CUDA."""
    ready = network.eval().requires_grad_(False)
    if not is_accelerator(device):
        return ready.to(device)
    import torch

    return ready.to(device, memory_format=torch.channels_last)


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
    number = torch.device(device).index or 0
    if kind == "cuda" and number >= torch.cuda.device_count():
        raise ClassifierUnavailable(
            f"This machine has {torch.cuda.device_count()} CUDA device(s), numbered from 0: {device} is not one."
        )


def weights_digest(state: dict[str, Any], *, also: str) -> str:
    """SHA-256 over a state dictionary's names, shapes and values, and over the preprocessing in words."""
    digest = hashlib.sha256(also.encode())
    for name in sorted(state):
        values = state[name].detach().cpu().contiguous().numpy()
        digest.update(f"{name} {values.dtype} {values.shape}".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()
