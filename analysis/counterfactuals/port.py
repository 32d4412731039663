"""What a search asks of generators and oracles, and of the classifier under test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.port import Classifier
from analysis.errors import SearchRefused
from analysis.labels.files import default_labels
from analysis.labels.mapping import mapping_of
from analysis.labels.space import LabelSpace

_SMALLEST = 1e-12


@dataclass(frozen=True, slots=True)
class Look:
    """What a classifier made of a batch of pictures.

    Attributes
    ----------
    responses : ndarray of str, shape (n,)
        Categories.
    losses : ndarray of float64, shape (n,)
        Cross entropy of the scores of all labels at the label, in nats.
    """

    responses: NDArray[np.str_]
    losses: NDArray[np.float64]


class Target:
    """A classifier, seen from the search.

    Parameters
    ----------
    classifier : Classifier
        It looks at pictures; recorded predictions cannot be searched.
    space : LabelSpace, optional
        Labels of the pictures; by default the product's.
    """

    def __init__(self, classifier: Classifier, space: LabelSpace | None = None) -> None:
        if not isinstance(classifier, Classifier):
            raise SearchRefused(
                f"{getattr(classifier, 'name', 'This')} holds recorded predictions: a search makes new pictures, which "
                "only a network that runs here can look at."
            )
        self.classifier = classifier
        self.space = space or default_labels()

    @property
    def name(self) -> str:
        """Short name of the classifier."""
        return self.classifier.name

    @property
    def digest(self) -> str:
        """SHA-256 of what determines its predictions."""
        return self.classifier.digest

    @property
    def device(self) -> str:
        """Where its tensors live."""
        return str(getattr(self.classifier, "device", "cpu"))

    def numbers(self, labels: Sequence[str]) -> NDArray[np.intp]:
        """Labels as numbers in the order of their ids.

        Raises
        ------
        SearchRefused
            If one is none of the labels.
        """
        strange = sorted({label for label in labels if label not in self.space})
        if strange:
            raise SearchRefused(
                f"{strange[0]!r} is none of the {len(self.space)} labels of {self.space.name}: "
                f"{', '.join(self.space.ids[:16])}."
            )
        return np.array([self.space.place(label) for label in labels], dtype=np.intp)

    def look(self, pictures: NDArray[np.uint8], numbers: NDArray[np.intp]) -> Look:
        """Responses and losses.

        Parameters
        ----------
        pictures : ndarray of uint8, shape (n, h, w, 3)
        numbers : ndarray of int, shape (n,)
            Labels as numbers, from `numbers`.
        """
        scores = mapping_of(tuple(self.classifier.labels), self.space).scores(self.classifier.predict(pictures))
        shares = scores / np.maximum(scores.sum(axis=1, keepdims=True), _SMALLEST)
        losses = -np.log(np.maximum(shares[np.arange(len(shares)), numbers], _SMALLEST))
        return Look(np.array(self.space.ids)[scores.argmax(axis=1)], losses)

    def gradient(self, pictures: Any, numbers: NDArray[np.intp]) -> Any:
        """Gradient of each picture's loss with respect to its pixels.

        Parameters
        ----------
        pictures : tensor, shape (n, 3, h, w)
            RGB in [0, 1], on `device`.
        numbers : ndarray of int, shape (n,)
            Labels as numbers, from `numbers`.
        """
        import torch

        classifier: Any = self.classifier
        pictures = pictures.detach().requires_grad_()
        logits = torch.log_softmax(classifier.label_logits(pictures, self.space), dim=1)
        labels = torch.from_numpy(np.asarray(numbers, dtype=np.int64)).to(logits.device)
        loss = torch.nn.functional.nll_loss(logits, labels, reduction="sum")
        (gradient,) = torch.autograd.grad(loss, pictures)
        return gradient

    def check_gradients(self, size_px: int, *, seed: int = 0) -> None:
        """Refuse a classifier without a usable gradient, found out on one picture of noise.

        Raises
        ------
        SearchRefused
            If its gradient is zero everywhere, or no number.
        ClassifierUnavailable
            If it has none.
        """
        import torch

        from analysis.classifiers.networks import require_gradients

        require_gradients(self.classifier)
        noise = np.random.default_rng(seed).random((1, 3, size_px, size_px), dtype=np.float32)
        try:
            gradient = self.gradient(torch.from_numpy(noise).to(self.device), np.zeros(1, np.intp))
        except RuntimeError as error:
            raise SearchRefused(
                self._no_gradient(f"cannot be differentiated ({str(error).splitlines()[0]})")
            ) from error
        if not bool(torch.isfinite(gradient).all()) or not bool((gradient != 0).any()):
            raise SearchRefused(self._no_gradient("has a gradient of zero, or none that is a number"))

    def _no_gradient(self, what: str) -> str:
        return (
            f"{self.name} {what}. Take a network made of differentiable layers, without rounding or detached parts, or "
            "a generator that needs no gradient, such as corruption:gaussian_blur."
        )


#: Where the pictures of a batch stand: named arrays whose first axis is the picture; they travel in an .npz file.
State = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Painting:
    """Pictures of a state.

    Attributes
    ----------
    pictures : ndarray of uint8, shape (n, h, w, 3)
    memory : ndarray of object, shape (n,), optional
        What the generator remembers of painting each; it is lost where a search travels as arrays.
    """

    pictures: NDArray[np.uint8]
    memory: NDArray[np.object_] | None = None

    def of(self, chosen: NDArray[Any]) -> Painting:
        """Some of the pictures."""
        return Painting(self.pictures[chosen], None if self.memory is None else self.memory[chosen])


@runtime_checkable
class Generator(Protocol):
    """Makes pictures from originals, and perturbs them further.

    Attributes
    ----------
    name : str
        As in a specification, without a folder.
    digest : str
        SHA-256 of what determines its pictures.
    needs_gradients : bool
        Whether it asks the classifier for gradients, or for losses alone.
    """

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def needs_gradients(self) -> bool: ...

    def start(self, pictures: NDArray[np.uint8], seeds: NDArray[np.int64]) -> State:
        """State before the first perturbation, of originals, shape (n, h, w, 3), with one seed each."""
        ...

    def paint(self, state: State) -> Painting:
        """Pictures of a state."""
        ...

    def step(self, state: State, numbers: NDArray[np.intp], target: Target, painting: Painting | None = None) -> State:
        """State one step further in the direction that raises the target's loss at these labels.

        Of ``painting``, what `paint` made of this very state, a generator may use what it remembers; the result is the
        same without.
        """
        ...


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What an oracle said of a batch.

    Attributes
    ----------
    accepted : ndarray of bool, shape (n,)
        Whether it still sees the label.
    responses : ndarray of str, shape (n,)
        What it sees; empty where it only says no.
    """

    accepted: NDArray[np.bool_]
    responses: NDArray[np.str_]


@runtime_checkable
class Oracle(Protocol):
    """Says whether a picture still shows what its label says.

    Attributes
    ----------
    name : str
        Short name.
    digest : str
        SHA-256 of what determines its judgements.
    classes : frozenset of str
        Categories that it knows.
    """

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def classes(self) -> frozenset[str]: ...

    def judge(self, pictures: NDArray[np.uint8], labels: Sequence[str]) -> Acceptance:
        """Judge pictures, shape (n, h, w, 3), against their labels."""
        ...


def select(state: State, chosen: NDArray[Any]) -> State:
    """State of some of the pictures."""
    return {name: values[chosen] for name, values in state.items()}
