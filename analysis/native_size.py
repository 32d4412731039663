"""Pictures that are smaller than what people are shown: corrupted at their native size, then enlarged.

Enlarging by a whole factor, nearest neighbour, makes one square of equal pixels of each pixel. So the native pixels are
every ``enlarged``-th row and column of the picture that is shown, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.corruptions.registry import Corruption, Intensities
from analysis.errors import InvalidInput
from analysis.visual_change.vif import MINIMUM_SIDE_PX

Pixel = TypeVar("Pixel", bound=np.generic)

#: A picture may be scaled up this much at most; more of it would show interpolation, not the picture.
MAXIMUM_ENLARGEMENT = 2.0
#: Smaller pictures are not corrupted: hardly any function has room in them.
MINIMUM_NATIVE_PX = 16


#: Side at which pictures are usually shown.
USUAL_PX = 224


@dataclass(frozen=True)
class Enlargement:
    """Pictures of one native size, and how many times they are enlarged to be shown."""

    native_px: int
    enlarged: int

    @property
    def size_px(self) -> int:
        """Side of what is shown."""
        return self.native_px * self.enlarged


def suggested_enlargement(side_px: int) -> Enlargement | None:
    """The largest that fits into `USUAL_PX`; None for pictures that are too small, or large enough to be scaled."""
    if not MINIMUM_NATIVE_PX <= side_px < USUAL_PX / MAXIMUM_ENLARGEMENT:
        return None
    return Enlargement(side_px, USUAL_PX // side_px)


def native_side(size_px: int, enlarged: int) -> int:
    """Side of the pictures that are shown at ``size_px``, enlarged so many times.

    Parameters
    ----------
    size_px : int
        Side of the square that is shown.
    enlarged : int
        Whole factor; 1 shows pictures as they are.

    Raises
    ------
    InvalidInput
        If the factor is below 1, the size is no multiple of it or too small for visual change to be measured, or the
        pictures would have fewer than `MINIMUM_NATIVE_PX` px.
    """
    if enlarged == 1:
        return size_px
    if enlarged < 1:
        raise InvalidInput(f"Pictures are enlarged by a whole number from 1 (not at all), not by {enlarged}.")
    native, rest = divmod(size_px, enlarged)
    if rest:
        sizes = [side * enlarged for side in (native, native + 1) if side >= MINIMUM_NATIVE_PX]
        raise InvalidInput(
            f"A size of {size_px} px is no multiple of {enlarged}, by which the pictures are enlarged: choose "
            f"{' or '.join(f'{size} px' for size in sizes) or f'a factor below {enlarged}'}."
        )
    if native < MINIMUM_NATIVE_PX:
        raise InvalidInput(
            f"Pictures that are enlarged {enlarged} times to {size_px} px have {native} x {native} px, and corruption "
            f"functions need at least {MINIMUM_NATIVE_PX}: choose a smaller factor."
        )
    if size_px < MINIMUM_SIDE_PX:
        least = math.ceil(MINIMUM_SIDE_PX / native)
        raise InvalidInput(
            f"Visual change is measured on the picture that is shown, from {MINIMUM_SIDE_PX} px on; {size_px} px are "
            f"too few. Enlarge pictures of {native} x {native} px {least} times, to {least * native} px."
        )
    return native


def enlarge(pixels: NDArray[Pixel], enlarged: int) -> NDArray[Pixel]:
    """The picture with each pixel as a square of ``enlarged`` x ``enlarged`` px; the same one for a factor of 1.

    Parameters
    ----------
    pixels : ndarray, shape (h, w, 3)
    enlarged : int

    Returns
    -------
    ndarray, shape (h * enlarged, w * enlarged, 3)
    """
    return pixels if enlarged == 1 else pixels.repeat(enlarged, axis=0).repeat(enlarged, axis=1)


def native_pixels(shown: NDArray[Pixel], enlarged: int) -> NDArray[Pixel]:
    """The native pixels of what is shown, the inverse of `enlarge`.

    Parameters
    ----------
    shown : ndarray, shape (..., h, w, 3)
        A picture, or a batch of them.
    enlarged : int

    Returns
    -------
    ndarray, shape (..., h / enlarged, w / enlarged, 3)
    """
    return shown if enlarged == 1 else np.ascontiguousarray(shown[..., ::enlarged, ::enlarged, :])


def made_at_native_size(
    make: Callable[[NDArray[Pixel]], NDArray[Pixel]], shown: NDArray[Pixel], enlarged: int
) -> NDArray[Pixel]:
    """What ``make`` makes of the native pixels, enlarged again; ``shown`` itself where it returns what it got."""
    native = native_pixels(shown, enlarged)
    made = make(native)
    return shown if made is native else enlarge(made, enlarged)


def at_native_size(corruption: Corruption, enlarged: int) -> Corruption:
    """The same function for pictures that are shown enlarged: it sees their native pixels.

    Of equal parameters and seeds, the native pixels of what it makes are what ``corruption`` makes of native pixels.
    Parameters in pixels count native pixels.
    """
    if enlarged == 1:
        return corruption
    return replace(corruption, function=partial(_corrupted, corruption.function, enlarged))


def _corrupted(
    function: Callable[[Intensities, float, int], Intensities],
    enlarged: int,
    intensities: Intensities,
    parameter: float,
    seed: int,
) -> Intensities:
    return made_at_native_size(lambda native: function(native, parameter, seed), intensities, enlarged)
