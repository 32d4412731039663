"""What training brought on stimuli whose originals are never trained on, epoch by epoch, and which epoch is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import BoolArray, FloatArray
from analysis.classifiers.networks import TorchNetwork

#: Stimuli that go through the network at once.
_BATCH = 64


class Examples(Protocol):
    """Pictures with categories, fetched a batch at a time."""

    def __len__(self) -> int: ...

    def batch(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Pictures, shape (n, h, w, 3), and their places in `CATEGORIES`, shape (n,), of these examples."""
        ...


class HeldOut(Examples, Protocol):
    """Examples that are not trained on, each with the name of its original."""

    @property
    def original_names(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Epoch:
    """A point of the validation curve.

    Attributes
    ----------
    epoch : int
        Epochs that were trained; 0 is the network as it was given.
    loss : float
        Mean cross-entropy of the 16-way scores on held-out stimuli, in nats.
    right : float
        Share of held-out stimuli that are named right.
    gain : float
        Share right minus that of epoch 0.
    standard_error : float
        Of the gain, over originals; infinite for a single one.
    """

    epoch: int
    loss: float
    right: float
    gain: float
    standard_error: float

    @property
    def is_better(self) -> bool:
        """Whether the gain is more than its standard error: else it may be chance."""
        return self.gain > self.standard_error

    def to_dict(self) -> dict[str, Any]:
        """Plain values; a standard error that does not exist is None."""
        return {**asdict(self), "standard_error": self.standard_error if np.isfinite(self.standard_error) else None}


@dataclass(frozen=True, slots=True)
class Looked:
    """Loss of every held-out stimulus and whether it was named right, each of shape (n,)."""

    losses: FloatArray
    right: BoolArray


def look(network: TorchNetwork, examples: Examples) -> Looked:
    """Show a network every example; its weights and torch's random numbers stay as they are."""
    import torch

    losses, right = [], []
    with torch.inference_mode():
        for start in range(0, len(examples), _BATCH):
            pictures, categories = examples.batch(np.arange(start, min(start + _BATCH, len(examples))))
            batch = torch.from_numpy(pictures).to(network.device).permute(0, 3, 1, 2).float().div_(255)
            scores = network.category_logits(batch)
            targets = torch.from_numpy(categories).to(network.device)
            losses.append(torch.nn.functional.cross_entropy(scores, targets, reduction="none").cpu().numpy())
            right.append((scores.argmax(dim=1) == targets).cpu().numpy())
    return Looked(np.concatenate(losses).astype(np.float64), np.concatenate(right))


def epoch_of(number: int, found: Looked, before: Looked, original_names: Sequence[str]) -> Epoch:
    """The point of an epoch.

    Parameters
    ----------
    number : int
    found, before : Looked
        Of the same stimuli after this epoch, and before training.
    original_names : sequence of str
        Original of every stimulus.

    Notes
    -----
    Stimuli of an original are alike, so the standard error is that of a mean over clusters of unequal size: with the
    sum ``d_i`` of differences and the number ``m_i`` of stimuli of original ``i`` of ``G``, it is
    ``sqrt(G / (G - 1) * sum((d_i - m_i * gain)**2)) / sum(m_i)`` (Cochran 1977, "Sampling techniques", section 6.3).
    """
    _, clusters = np.unique(np.asarray(original_names), return_inverse=True)
    change = found.right.astype(np.float64) - before.right
    gain, sizes = float(change.mean()), np.bincount(clusters)
    residuals = np.bincount(clusters, weights=change) - sizes * gain
    n = len(sizes)
    spread = float(np.sqrt(n / (n - 1) * np.sum(residuals**2)) / len(change)) if n > 1 else float("inf")
    return Epoch(number, float(found.losses.mean()), float(found.right.mean()), gain, spread)


def kept_epoch(curve: Sequence[Epoch]) -> int:
    """The epoch whose weights are kept: of those that are better than no training, the one with the lowest loss.

    Where none is better, it is 0, the network as it was given.
    """
    return min((one for one in curve if one.is_better), key=lambda one: one.loss, default=curve[0]).epoch


def is_over(curve: Sequence[Epoch], patience: int) -> bool:
    """Whether the last ``patience`` epochs brought no lower loss."""
    lowest = min(curve, key=lambda one: one.loss)
    return curve[-1].epoch - lowest.epoch >= patience
