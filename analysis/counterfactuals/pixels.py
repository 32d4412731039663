"""Generator ``pixel:``: gradient ascent on the pixels, never further than a bound from the original."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.counterfactuals.port import Painting, State, Target
from analysis.errors import SearchRefused


@dataclass(frozen=True, slots=True)
class PixelGenerator:
    """Signed gradient steps within a box around the original.

    Parameters
    ----------
    epsilon : float
        Largest change of an intensity, of 1.
    stride : float
        Change of every intensity in a step, of 1.

    Notes
    -----
    Madry et al. (2018), projected gradient ascent, from the original itself.
    """

    epsilon: float = 16 / 255
    stride: float = 2 / 255

    def __post_init__(self) -> None:
        if not 0 < self.stride <= self.epsilon <= 1:
            raise SearchRefused(
                f"Pixels change by a step above 0, at most by epsilon, at most by 1; not step {self.stride} with "
                f"epsilon {self.epsilon}."
            )

    @property
    def name(self) -> str:
        """As in a specification."""
        return "pixel:"

    @property
    def digest(self) -> str:
        """SHA-256 of bound and step."""
        return hashlib.sha256(f"pixel/{self.epsilon!r}/{self.stride!r}".encode()).hexdigest()

    @property
    def needs_gradients(self) -> bool:
        """It follows the gradient."""
        return True

    def start(self, pictures: NDArray[np.uint8], seeds: NDArray[np.int64]) -> State:
        """Nothing changed yet."""
        return {"originals": pictures, "changes": np.zeros(pictures.shape, np.float32)}

    def paint(self, state: State) -> Painting:
        """Originals and changes, rounded."""
        changed = np.rint(state["originals"].astype(np.float32) + 255 * state["changes"])
        return Painting(np.asarray(np.clip(changed, 0, 255), dtype=np.uint8))

    def step(self, state: State, numbers: NDArray[np.intp], target: Target, painting: Painting | None = None) -> State:
        """One signed step up the loss."""
        originals = state["originals"].astype(np.float32) / 255
        gradient = target.gradient(as_tensor(originals + state["changes"], target.device), numbers)
        changes = state["changes"] + np.float32(self.stride) * as_pictures(gradient.sign())
        bounded = np.clip(changes, -self.epsilon, self.epsilon)
        return {**state, "changes": (np.clip(originals + bounded, 0, 1) - originals).astype(np.float32)}


def as_tensor(intensities: NDArray[Any], device: str) -> Any:
    """Tensor (n, 3, h, w) of intensities (n, h, w, 3)."""
    import torch

    return torch.from_numpy(np.ascontiguousarray(intensities.transpose(0, 3, 1, 2), dtype=np.float32)).to(device)


def as_pictures(tensor: Any) -> NDArray[np.float32]:
    """Array (n, h, w, 3) of a tensor (n, 3, h, w)."""
    return np.ascontiguousarray(tensor.detach().permute(0, 2, 3, 1).float().cpu().numpy())
