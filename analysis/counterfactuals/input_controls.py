"""What may be done to originals before a search: the controls of the OOR paper's appendices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.counterfactuals.model_under_test import Target
from analysis.counterfactuals.pixels import PixelGenerator
from analysis.errors import SearchRefused


@dataclass(frozen=True, slots=True)
class Control:
    """Preparation of originals.

    Parameters
    ----------
    greyscale : bool
        Take the colours away: 0.299 R + 0.587 G + 0.114 B, in all three channels.
    fgsm : float
        Size of one signed gradient step up the classifier's loss, of 1; 0 for none. After Goodfellow, Shlens and
        Szegedy (2015).
    """

    greyscale: bool = False
    fgsm: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.fgsm <= 1:
            raise SearchRefused(f"The initial signed step lies between 0 and 1, not {self.fgsm}.")

    @property
    def needs_gradients(self) -> bool:
        """Whether the classifier must be differentiable."""
        return self.fgsm > 0

    def prepare(self, pictures: NDArray[np.uint8], numbers: NDArray[np.intp], target: Target) -> NDArray[np.uint8]:
        """Prepared pictures, shape (n, h, w, 3)."""
        prepared = in_grey(pictures) if self.greyscale else pictures
        if not self.fgsm:
            return prepared
        signed = PixelGenerator(epsilon=self.fgsm, stride=self.fgsm)
        start = signed.start(prepared, np.zeros(len(prepared), np.int64))
        return signed.paint(signed.step(start, numbers, target)).pictures


#: Originals as they are.
AS_IT_IS = Control()


def in_grey(pictures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Pictures without colour, shape (n, h, w, 3)."""
    grey = np.rint(pictures.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32))
    return np.repeat(grey.astype(np.uint8)[..., None], 3, axis=3)
