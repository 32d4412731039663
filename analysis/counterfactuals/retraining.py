"""What training on counterfactuals brings: the network before and after, on originals and on counterfactuals."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.networks import TorchNetwork
from analysis.counterfactuals.port import Target
from analysis.errors import SearchRefused
from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace
from analysis.retraining.held_out import Epoch, hold_out
from analysis.retraining.training import Recipe, Tell, fine_tune


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPictures:
    """Originals of a search, their counterfactuals, and their labels; what a network may be trained or tested on.

    Attributes
    ----------
    originals, counterfactuals : ndarray of uint8, shape (n, h, w, 3)
        The second is the kept picture of the first.
    labels : tuple of str, length n
    """

    originals: NDArray[np.uint8]
    counterfactuals: NDArray[np.uint8]
    labels: tuple[str, ...]
    space: LabelSpace = field(default_factory=default_labels)

    def __post_init__(self) -> None:
        if not len(self.labels) or not len(self.originals) == len(self.counterfactuals) == len(self.labels):
            raise SearchRefused(
                f"Each original has one counterfactual and one label: there are {len(self.originals)}, "
                f"{len(self.counterfactuals)} and {len(self.labels)}."
            )

    def __len__(self) -> int:
        """Originals and counterfactuals together, as training sees them."""
        return 2 * len(self.labels)

    def batch(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Pictures and labels, as numbers in the order of their ids, of training examples."""
        n = len(self.labels)
        pictures = [self.originals[k] if k < n else self.counterfactuals[k - n] for k in numbers]
        return np.stack(pictures), self.space.places_of([self.labels[k % n] for k in numbers])

    def partners(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of originals their counterfactuals, and the reverse."""
        return (numbers + len(self.labels)) % len(self)

    @property
    def original_names(self) -> list[str]:
        """Digest of the original of each example."""
        return [*self._names, *self._names]

    @property
    def _names(self) -> list[str]:
        return [hashlib.sha256(picture.tobytes()).hexdigest() for picture in self.originals]

    def split(self, *, share: float, seed: int) -> tuple[LabelledPictures, LabelledPictures | None]:
        """What is trained on, and what is held out from it; None where that is nothing."""
        names = self._names
        contents = {name: (label, name) for name, label in zip(names, self.labels, strict=True)}
        chosen = hold_out(contents, share=share, seed=seed)
        is_held_out = np.array([name in chosen for name in names])
        return self._some(~is_held_out), self._some(is_held_out) if chosen else None

    def _some(self, chosen: NDArray[np.bool_]) -> LabelledPictures:
        labels = tuple(label for label, is_chosen in zip(self.labels, chosen, strict=True) if is_chosen)
        return LabelledPictures(self.originals[chosen], self.counterfactuals[chosen], labels, self.space)

    @property
    def digests(self) -> frozenset[str]:
        """SHA-256 of every original's pixels."""
        return frozenset(self._names)


@dataclass(frozen=True, slots=True, eq=False)
class TwoByTwo:
    """Accuracy of a network before and after training on counterfactuals.

    Attributes
    ----------
    accuracy : ndarray of float64, shape (2, 2)
        Rows: before, after. Columns: on originals, on counterfactuals.
    n : int
        Test originals.
    network : TorchNetwork
        The retrained network.
    seconds : float
        Time to train.
    curve : tuple of Epoch
        How it did on held-out originals and their counterfactuals, epoch by epoch.
    kept : int
        Epoch whose weights it has; 0 where training brought nothing.
    """

    accuracy: NDArray[np.float64]
    n: int
    network: TorchNetwork
    seconds: float
    curve: tuple[Epoch, ...]
    kept: int


def retrain_on_counterfactuals(
    network: TorchNetwork,
    training: LabelledPictures,
    test: LabelledPictures,
    recipe: Recipe,
    *,
    checkpoint: Path | None = None,
    tell: Tell | None = None,
) -> TwoByTwo:
    """Fine-tune a network on originals and their counterfactuals, and test it on others.

    ``checkpoint`` and ``tell`` are those of `fine_tune`.

    Raises
    ------
    SearchRefused
        If an original stands in both.

    Notes
    -----
    OOR paper, Table 7; with its consistency loss where `Recipe.consistency` is above 0. Of the training originals, a
    share of `Recipe.held_out` tells when to stop and which epoch to keep. The counterfactuals of the test were made
    against the network as it was.
    """
    if shared := training.digests & test.digests:
        raise SearchRefused(f"{len(shared)} originals stand in training and test: leave them out of one.")
    trained_on, held_out = training.split(share=recipe.held_out, seed=recipe.seed)
    retrained = fine_tune(network, trained_on, recipe, held_out=held_out, checkpoint=checkpoint, tell=tell)
    accuracy = [
        [_accuracy(one, pictures, test.labels, test.space) for pictures in (test.originals, test.counterfactuals)]
        for one in (network, retrained.network)
    ]
    return TwoByTwo(
        np.array(accuracy), len(test.labels), retrained.network, retrained.seconds, retrained.curve, retrained.kept
    )


def _accuracy(network: TorchNetwork, pictures: NDArray[np.uint8], labels: Sequence[str], space: LabelSpace) -> float:
    target = Target(network, space)
    responses = target.look(pictures, target.numbers(labels)).responses
    return float(np.mean(responses == np.array(labels)))
