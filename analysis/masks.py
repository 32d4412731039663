"""The mask that ends the visibility of a stimulus.

Kinds of mask are registered by name in `MASKS`; a new one is one function and one entry there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InvalidInput, PictureRefused, UnknownName

MAXIMUM_SIDE_PX = 4096
#: Grey of the page in the published protocols, in [0, 1].
BACKGROUND = 0.454

MaskPixels = NDArray[np.uint8]


def noise_mask(seed: int, size_px: int, contrast: float = 1.0) -> MaskPixels:
    """Grey noise with power 1/f, periodic, of the full range.

    Parameters
    ----------
    seed : int
        Same arguments, same mask.
    size_px : int
        Side of the square.
    contrast : float
        Factor about the middle grey, clipped to the range; the second batch of Geirhos et al. (2018) used 4.

    Returns
    -------
    ndarray of uint8, shape (size_px, size_px)

    Raises
    ------
    InvalidInput
        For a side under 2 px or over 4096 px, a negative seed, or a contrast that is not positive.

    Notes
    -----
    Geirhos et al. (2018), lab experiments, ``spatialPattern`` with beta = -1: power ``S(f) = 1 / f`` with ``S(0) = 0``,
    ``x = Re(ifft2(sqrt(S) exp(2 pi i phi)))`` with uniform phases, then stretched from its minimum to its maximum. So
    the *amplitude* falls as ``1 / sqrt(f)``.
    """
    check_size(size_px)
    if seed < 0:
        raise InvalidInput(f"The seed of a mask must be 0 or more, not {seed}.")
    if not contrast > 0:
        raise InvalidInput(f"The contrast of a mask must be positive, not {contrast}.")
    cycles_per_px = np.fft.fftfreq(size_px)
    frequency = np.hypot(cycles_per_px[:, None], cycles_per_px[None, :])
    frequency[0, 0] = np.inf
    phase = np.random.default_rng(seed).random((size_px, size_px))
    pattern: NDArray[np.float64] = np.fft.ifft2(frequency**-0.5 * np.exp(2j * np.pi * phase)).real
    pattern = (pattern - pattern.min()) / (pattern.max() - pattern.min())
    pattern = np.clip((pattern - 0.5) * contrast + 0.5, 0.0, 1.0)
    return np.asarray(np.rint(pattern * 255.0), dtype=np.uint8)


def phase_scrambled(picture: NDArray[Any], seed: int) -> MaskPixels:
    """The picture with random phases: its colours and its amplitude spectrum, but none of its shapes.

    Parameters
    ----------
    picture : ndarray of uint8, shape (h, w) or (h, w, 3)
    seed : int
        Same arguments, same mask.

    Returns
    -------
    ndarray of uint8, shape of picture

    Raises
    ------
    PictureRefused
        If dtype or shape differ.
    InvalidInput
        For a negative seed.

    Notes
    -----
    The same random phases are added in each channel, so that the channels keep their relation and no new hues arise.
    The phases are those of white noise: the result is real without dropping a part. What leaves the range is clipped,
    which is the only change of the amplitudes.
    """
    if getattr(picture, "dtype", None) != np.uint8 or picture.ndim not in (2, 3) or 0 in picture.shape:
        raise PictureRefused(
            "Only pictures of uint8 with the shape (height, width) or (height, width, 3) are scrambled."
        )
    if seed < 0:
        raise InvalidInput(f"The seed of a mask must be 0 or more, not {seed}.")
    noise = np.fft.rfft2(np.random.default_rng(seed).standard_normal(picture.shape[:2]))
    turns = noise / np.abs(noise)
    turns[0, 0] = 1.0
    planes = picture.reshape(*picture.shape[:2], -1).astype(np.float64)
    scrambled = [np.fft.irfft2(np.fft.rfft2(plane) * turns, s=picture.shape[:2]) for plane in np.moveaxis(planes, 2, 0)]
    pixels = np.rint(np.clip(np.stack(scrambled, axis=2), 0.0, 255.0)).astype(np.uint8)
    return np.asarray(pixels.reshape(picture.shape), dtype=np.uint8)


def blank_mask(size_px: int, background: float = BACKGROUND) -> MaskPixels:
    """No mask: the grey of the page, in [0, 1], shape (size_px, size_px)."""
    check_size(size_px)
    if not 0 <= background <= 1:
        raise InvalidInput(f"The background must lie in [0, 1], not {background}.")
    return np.full((size_px, size_px), round(255 * background), dtype=np.uint8)


@dataclass(frozen=True, kw_only=True)
class MaskKind:
    """A kind of mask by name.

    Parameters
    ----------
    name : str
        As protocols and files name it.
    source : str
        Where it is from.
    contrast : float or None
        Factor about the middle grey; None where there is no noise.
    needs_picture : bool
        Whether it is made from a picture.
    """

    name: str
    source: str
    contrast: float | None
    needs_picture: bool
    function: Callable[[int, int, MaskPixels | None], MaskPixels]


def _noise(seed: int, size_px: int, picture: MaskPixels | None, *, contrast: float) -> MaskPixels:
    return noise_mask(seed, size_px, contrast)


def _noise_kind(name: str, contrast: float, source: str) -> MaskKind:
    return MaskKind(
        name=name, source=source, contrast=contrast, needs_picture=False, function=partial(_noise, contrast=contrast)
    )


def _scramble(seed: int, size_px: int, picture: MaskPixels | None) -> MaskPixels:
    if picture is None:
        raise InvalidInput("A phase-scrambled mask is made from a picture: give one.")
    if picture.shape[:2] != (size_px, size_px):
        raise InvalidInput(f"The picture must have {size_px} x {size_px} px, as the mask, not {picture.shape[:2]}.")
    return phase_scrambled(picture, seed)


def _blank(seed: int, size_px: int, picture: MaskPixels | None) -> MaskPixels:
    return blank_mask(size_px)


#: Kinds of mask by name; each shipped protocol's noise has the protocol's name.
MASKS: dict[str, MaskKind] = {
    kind.name: kind
    for kind in (
        _noise_kind("vcr", 1.0, "Shen et al.: a noise mask; its spectrum after Geirhos et al. 2018"),
        _noise_kind("geirhos2018-batch1", 1.0, "Geirhos et al. 2018, first batch: power 1/f"),
        _noise_kind("geirhos2018-batch2", 4.0, "Geirhos et al. 2018, second batch: power 1/f, contrast x 4, clipped"),
        MaskKind(
            name="phase-scrambled", source="a picture with random phases", contrast=None, needs_picture=True,
            function=_scramble,
        ),
        MaskKind(name="none", source="the grey of the page", contrast=None, needs_picture=False, function=_blank),
    )
}  # fmt: skip


def mask_kind(name: str) -> MaskKind:
    """Kind of mask by name.

    Raises
    ------
    UnknownName
        If there is none; the known ones are told.
    """
    try:
        return MASKS[name]
    except KeyError:
        raise UnknownName(f"There is no kind of mask named {name!r}; choose from {', '.join(sorted(MASKS))}.") from None


def make_mask(name: str, seed: int, size_px: int, picture: NDArray[Any] | None = None) -> MaskPixels:
    """Mask of a named kind.

    Parameters
    ----------
    name : str
        In `MASKS`.
    seed : int
        Same arguments, same mask.
    size_px : int
        Side of the square.
    picture : ndarray of uint8, shape (size_px, size_px, 3), optional
        For kinds that are made from one.

    Returns
    -------
    ndarray of uint8, shape (size_px, size_px) or, made from a picture in colour, (size_px, size_px, 3)

    Raises
    ------
    UnknownName, InvalidInput, PictureRefused
        For a kind, a number or a picture that cannot be used.
    """
    return mask_kind(name).function(seed, size_px, picture)


def check_size(size_px: int) -> int:
    """Return the side of a mask.

    Raises
    ------
    InvalidInput
        If it is under 2 px or over 4096 px.
    """
    if not 2 <= size_px <= MAXIMUM_SIDE_PX:
        raise InvalidInput(f"The side of a mask must be 2 to {MAXIMUM_SIDE_PX} px, not {size_px}.")
    return size_px
