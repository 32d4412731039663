"""How a picture becomes a network's input: the whole picture, resized, never cropped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InvalidInput, PictureRefused

_LEVELS = 255
#: Beyond these, mean and std are not about RGB from 0 to 1; those of levels from 0 to 255 are dozens.
_MOST_MEAN, _MOST_STD = 1.0, 2.0
#: Half of what turns 0 to 1 into 0 to 255.
_LEAST_STD = 1 / 512


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """How a picture becomes a network's input.

    Attributes
    ----------
    input_px : int
        Height and width of the input; the whole picture is resized to it.
    mean, std : tuple of three floats
        Subtracted from, and divided into, RGB in [0, 1]. A network that takes 0 to 255 has std 1/255.
    """

    input_px: int
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.input_px < 1:
            raise InvalidInput(f"A network's input is at least 1 pixel wide, not {self.input_px}.")
        if len(self.mean) != 3 or len(self.std) != 3 or not all(value > 0 for value in self.std):
            raise InvalidInput(f"mean and std are three numbers each, std positive, not {self.mean} and {self.std}.")
        _check_units(self.mean, self.std)

    def __str__(self) -> str:
        mean, std = (", ".join(f"{value:g}" for value in three) for three in (self.mean, self.std))
        return (
            f"whole picture resized to {self.input_px} x {self.input_px} px (area averaging when it shrinks, "
            f"else bicubic), RGB / 255, minus ({mean}), divided by ({std})"
        )

    def apply(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Network input, shape (n, 3, input_px, input_px), of pictures, shape (n, h, w, 3)."""
        import cv2

        size = (self.input_px, self.input_px)
        how = _interpolation(images.shape[1], images.shape[2], self.input_px)
        same = images.shape[1:3] == size
        batch = np.stack(
            [image.astype(np.float32) if same else cv2.resize(image.astype(np.float32), size, interpolation=how)
             for image in images]
        )  # fmt: skip
        mean, std = np.array(self.mean, np.float32), np.array(self.std, np.float32)
        scaled = (np.clip(batch, 0, 255) / np.float32(255) - mean) / std
        return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2), dtype=np.float32)

    def apply_to_tensor(self, pictures: Any) -> Any:
        """The same for a float tensor in [0, 1], shape (n, 3, h, w), on its device, and differentiable.

        Notes
        -----
        Resizing is linear and separable: with the weights that OpenCV itself uses, two matrix products give what
        `apply` gives, up to rounding.
        """
        height, width = (int(side) for side in pictures.shape[-2:])
        if (height, width) != (self.input_px, self.input_px):
            how = _interpolation(height, width, self.input_px)
            rows, columns = (_weights_on(pictures.device, side, self.input_px, how) for side in (height, width))
            pictures = (rows @ pictures @ columns.T).clamp(0, 1)
        mean, std = (_constants_on(pictures.device, three) for three in (self.mean, self.std))
        return (pictures - mean) / std


def _check_units(mean: tuple[float, ...], std: tuple[float, ...]) -> None:
    """Refuse what cannot be meant for RGB from 0 to 1: every picture would look the same to the network."""
    if not all(map(math.isfinite, (*mean, *std))):
        raise InvalidInput(f"mean and std are finite numbers, not {_three(mean)} and {_three(std)}.")
    mean_is_255, std_is_255 = max(map(abs, mean)) > _MOST_MEAN, max(std) > _MOST_STD
    if mean_is_255 and (std_is_255 or set(std) == {1.0}) or (std_is_255 and set(mean) == {0.0}):
        ours = (tuple(value / _LEVELS for value in three) for three in (mean, std))
        raise InvalidInput(
            f"mean and std are for RGB from 0 to 1; these are for 0 to 255 (mean {_three(mean)}, std {_three(std)}): "
            f"divide by 255, that is {' and '.join(map(_three, ours))}."
        )
    if mean_is_255 or std_is_255:
        names = ("mean", "std") if mean_is_255 else ("std", "mean")
        raise InvalidInput(
            f"mean {_three(mean)} and std {_three(std)}: {names[0]} is for RGB from 0 to 255, {names[1]} for 0 to 1. "
            f"Write both for 0 to 1: divide {names[0]} by 255."
        )
    if min(std) < _LEAST_STD:
        raise InvalidInput(
            f"std {_three(std)} makes the network's inputs larger than 0 to 255, the widest that is usual. Was it "
            "divided by 255 twice? For RGB from 0 to 1, std lies between 1/255 and 1."
        )


def _three(values: tuple[float, ...]) -> str:
    return f"({', '.join(f'{value:.4g}' for value in values)})"


def check_images(images: NDArray[Any]) -> NDArray[np.uint8]:
    """Refuse anything but a batch of RGB pictures.

    Raises
    ------
    PictureRefused
        Unless the array is uint8 of shape (n, h, w, 3).
    """
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] != 3:
        raise PictureRefused(
            f"A classifier takes uint8 pictures of shape (n, h, w, 3), not {images.dtype} of shape {images.shape}. "
            "Give a batch, channels last, RGB."
        )
    return images


def _interpolation(height: int, width: int, input_px: int) -> int:
    import cv2

    return cv2.INTER_AREA if min(height, width) >= input_px else cv2.INTER_CUBIC


@lru_cache(maxsize=32)
def _weights(side: int, input_px: int, interpolation: int) -> NDArray[np.float32]:
    """Weights of a picture's rows in the resized picture's, shape (input_px, side): the resized identity matrix."""
    import cv2

    return np.asarray(
        cv2.resize(np.eye(side, dtype=np.float32), (side, input_px), interpolation=interpolation), dtype=np.float32
    )


@lru_cache(maxsize=32)
def _weights_on(device: Any, side: int, input_px: int, interpolation: int) -> Any:
    """The same as a tensor: copied to an accelerator once, because each copy waits for all that is under way there."""
    import torch

    with torch.inference_mode(mode=False):
        return torch.tensor(_weights(side, input_px, interpolation), device=device)


@lru_cache(maxsize=32)
def _constants_on(device: Any, values: tuple[float, ...]) -> Any:
    """One number a channel, as a tensor."""
    import torch

    with torch.inference_mode(mode=False):
        return torch.tensor(values, dtype=torch.float32, device=device).view(1, len(values), 1, 1)
