"""What a search asks of generators and oracles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from analysis.counterfactuals.model_under_test import Target

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
