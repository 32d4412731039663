"""Generator ``corruption:NAME``: ascent over the parameter of a corruption function."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.corruptions import corrupt, find_corruption
from analysis.counterfactuals.model_under_test import Target
from analysis.counterfactuals.port import Painting, State
from analysis.errors import SearchRefused


@dataclass(frozen=True, slots=True)
class CorruptionGenerator:
    """Walks along a function's domain, up or down, whichever raises the loss; its random field stays the same.

    Parameters
    ----------
    function : str
        One of the registered corruption functions.
    stride : float
        Length of a step as a share of the domain.
    """

    function: str
    stride: float = 0.1

    def __post_init__(self) -> None:
        find_corruption(self.function)
        if not 0 < self.stride <= 1:
            raise SearchRefused(f"A step along a corruption is above 0 and at most 1 of its domain, not {self.stride}.")

    @property
    def name(self) -> str:
        """As in a specification."""
        return f"corruption:{self.function}"

    @property
    def digest(self) -> str:
        """SHA-256 of function, version and step."""
        version = find_corruption(self.function).version
        return hashlib.sha256(f"corruption/{self.function}/{version}/{self.stride!r}".encode()).hexdigest()

    @property
    def needs_gradients(self) -> bool:
        """It compares losses, so that any classifier will do."""
        return False

    def start(self, pictures: NDArray[np.uint8], seeds: NDArray[np.int64]) -> State:
        """Every picture at the weak end of the domain."""
        return {"originals": pictures, "seeds": seeds, "strengths": np.zeros(len(pictures))}

    def paint(self, state: State) -> Painting:
        """Corrupted pictures."""
        return Painting(self._corrupted(state, state["strengths"]))

    def step(self, state: State, numbers: NDArray[np.intp], target: Target, painting: Painting | None = None) -> State:
        """The neighbour with the greater loss; of equal ones the stronger."""
        strengths = state["strengths"]
        losses = []
        tried = [np.clip(strengths + self.stride, 0, 1), np.clip(strengths - self.stride, 0, 1)]
        for neighbour in tried:
            found = target.look(self._corrupted(state, neighbour), numbers).losses
            losses.append(np.where(neighbour == strengths, -np.inf, found))
        return {**state, "strengths": np.where(losses[0] >= losses[1], tried[0], tried[1])}

    def _corrupted(self, state: State, strengths: NDArray[np.float64]) -> NDArray[np.uint8]:
        corruption = find_corruption(self.function)
        return np.stack(
            [
                corrupt(picture, self.function, corruption.parameter_at(float(strength)), int(seed))
                for picture, strength, seed in zip(state["originals"], strengths, state["seeds"], strict=True)
            ]
        )
