"""Blur: local averages and shuffles of intensities.

A new function is one function and one line in `FAMILY`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from analysis import opencv as cv2
from analysis.corruptions.convolution import (
    blur_along_both_axes,
    blur_with_quadrant,
    disc_quadrant,
    gaussian_half_kernel,
)
from analysis.corruptions.fields import Field, frozen
from analysis.corruptions.registry import Corruption, Intensities, Picture


def gaussian_blur(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Convolve with a normal kernel of standard deviation ``parameter`` px, cut at 4 of them, borders mirrored.

    Notes
    -----
    Hendrycks and Dietterich (2019), ``gaussian_blur``; the domain is widened.
    """
    return blur_along_both_axes(intensities, gaussian_half_kernel(parameter))


def box_blur(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Average over a square of side ``parameter`` px, whose outermost pixels count by the part that lies in it.

    Notes
    -----
    The ``Blur`` of albumentations, which VCR names; there only odd sides exist.
    """
    reach = (parameter - 1.0) / 2.0
    half_kernel = np.clip(reach + 1.0 - np.arange(math.ceil(reach) + 1), 0.0, 1.0) / parameter
    return blur_along_both_axes(intensities, half_kernel)


def median_blur(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Median over a square of side ``parameter`` px; between two odd sides, their medians are mixed linearly.

    Notes
    -----
    The ``MedianBlur`` of albumentations, which VCR names; there only odd sides exist. Borders are replicated.
    """
    pixels = np.rint(intensities).astype(np.uint8)
    smaller = 2 * int((parameter - 1.0) / 2.0) + 1
    share = (parameter - smaller) / 2.0
    picture = pixels.tobytes()
    mixed = _median(picture, pixels.shape, smaller).astype(np.float32)
    if share > 0:
        mixed += np.float32(share) * (_median(picture, pixels.shape, smaller + 2) - mixed)
    return mixed


# A search stays between neighbouring sides of one picture.
@lru_cache(maxsize=8)
def _median(picture: bytes, shape: tuple[int, int, int], side_px: int) -> Picture:
    pixels = np.frombuffer(picture, dtype=np.uint8).reshape(shape)
    return np.asarray(cv2.medianBlur(pixels, side_px), dtype=np.uint8) if side_px > 1 else pixels


def glass_blur(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Look through rippled glass: blur, move every pixel twice by up to ``parameter`` px, blur.

    Notes
    -----
    Hendrycks and Dietterich (2019), ``glass_blur``. Their five levels pair displacements of 1 to 4 px with standard
    deviations of 0.7 to 1.5 px; 0.7 times the root of the displacement passes through them.
    """
    return glass(intensities, 0.7 * math.sqrt(parameter), parameter, 2, seed)


def glass(intensities: Intensities, sigma_px: float, displacement_px: float, moves: int, seed: int) -> Intensities:
    """Blur, move every pixel of the whole picture ``moves`` times at random, blur.

    Parameters
    ----------
    intensities : ndarray of float32, shape (h, w, 3)
    sigma_px : float
        Standard deviation of both blurs.
    displacement_px : float
        Largest displacement in each direction; between pixels, the picture is interpolated.
    moves : int
    seed : int
        Of the directions, one field a move, the same at every displacement.
    """
    # Differs from ImageNet-C: pixels move by continuous amounts instead of being swapped one after the other.
    half_kernel = gaussian_half_kernel(sigma_px)
    moved = blur_along_both_axes(intensities, half_kernel)
    across, down = _grid(intensities.shape[:2])
    for ripple_x, ripple_y in _ripples(intensities.shape[:2], moves, seed):
        moved = cv2.remap(
            moved,
            across + np.float32(displacement_px) * ripple_x,
            down + np.float32(displacement_px) * ripple_y,
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REFLECT,
        )
    return blur_along_both_axes(np.asarray(moved, dtype=np.float32), half_kernel)


@lru_cache(maxsize=1)
def _grid(shape: tuple[int, int]) -> tuple[Field, Field]:
    down, across = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    return frozen(across), frozen(down)


@lru_cache(maxsize=1)
def _ripples(shape: tuple[int, int], moves: int, seed: int) -> Field:
    rng = np.random.default_rng(seed)
    return frozen(rng.random((moves, 2, *shape), dtype=np.float32) * np.float32(2.0) - np.float32(1.0))


def defocus_blur(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Convolve with a disc of radius ``parameter`` px whose rim fades over one pixel.

    Notes
    -----
    Hendrycks and Dietterich (2019), ``defocus_blur``. There, the disc is made of whole pixels.
    """
    return blur_with_quadrant(intensities, disc_quadrant(parameter))


def motion_blur(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Average along a line of ``parameter`` px in a seeded direction.

    Notes
    -----
    The ``MotionBlur`` of albumentations with which VCR's pictures were made; there, only whole lengths exist.
    """
    angle = math.pi * float(np.random.default_rng(seed).random())
    places = np.linspace(-0.5, 0.5, _LINE_POINTS) * parameter
    return blur_along_line(intensities, places, np.full(_LINE_POINTS, 1.0 / _LINE_POINTS), angle)


#: Points by which a line is drawn; neighbours are less than 1/8 px apart at the longest.
_LINE_POINTS = 1024


def blur_along_line(
    intensities: Intensities, places_px: NDArray[np.float64], weights: NDArray[np.float64], angle: float
) -> Intensities:
    """Weighted mean of pictures shifted along a line.

    Parameters
    ----------
    intensities : ndarray of float32, shape (h, w, 3)
    places_px : ndarray of float64, shape (n,)
        Shifts along the line.
    weights : ndarray of float64, shape (n,)
        Together 1.
    angle : float
        Of the line, in radians.
    """
    radius = int(np.ceil(np.abs(places_px).max())) + 1
    side = 2 * radius + 1
    across, down = radius + places_px * math.cos(angle), radius + places_px * math.sin(angle)
    left, top = np.floor(across).astype(int), np.floor(down).astype(int)
    right_part, lower_part = across - left, down - top
    corner = top * side + left
    kernel = np.zeros(side * side)
    for offset, part in (
        (0, (1 - right_part) * (1 - lower_part)),
        (1, right_part * (1 - lower_part)),
        (side, (1 - right_part) * lower_part),
        (side + 1, right_part * lower_part),
    ):
        kernel += np.bincount(corner + offset, weights * part, minlength=side * side)
    blurred = cv2.filter2D(
        intensities, -1, kernel.reshape(side, side).astype(np.float32), borderType=cv2.BORDER_REFLECT
    )
    return np.asarray(blurred, dtype=np.float32)


FAMILY: tuple[Corruption, ...] = (
    Corruption(
        name="box_blur", label="Blur", family="blur", version="1", low=1.0, high=71.0, scale="log",
        unit="side of the square, px", function=box_blur,
        formula="mean over a square of side c, pixels on its rim weighted by the part inside",
        source="albumentations Blur, named in VCR",
        departure="Every side from 1 to 71 px instead of the seven odd ones from 3 to 15.",
    ),
    Corruption(
        name="median_blur", label="Median blur", family="blur", version="1", low=1.0, high=71.0, scale="log",
        unit="side of the square, px", function=median_blur,
        formula="median over a square of side c, each channel by itself; linear mix between neighbouring odd sides",
        source="albumentations MedianBlur, named in VCR",
        departure="Every side from 1 to 71 px instead of the ten odd ones from 3 to 21.",
    ),
    Corruption(
        name="gaussian_blur", label="Gaussian blur", family="blur", version="2", low=0.15, high=32.0, scale="log",
        unit="standard deviation, px", function=gaussian_blur,
        formula="convolution with a normal density of standard deviation c, cut at 4 c",
        source="Hendrycks and Dietterich 2019, ImageNet-C (extra functions)",
        departure="Domain widened from 1-6 px to 0.15-32 px.",
    ),
    Corruption(
        name="glass_blur", label="Glass blur", family="blur", version="1", low=0.01, high=50.0, scale="log",
        unit="largest displacement, px", function=glass_blur,
        formula="Gaussian blur, two random displacements of every pixel by up to c, Gaussian blur; deviation 0.7 √c",
        source="Hendrycks and Dietterich 2019, ImageNet-C",
        departure="Continuous displacements of the whole picture instead of swaps of whole pixels.",
    ),
    Corruption(
        name="defocus_blur", label="Defocus blur", family="blur", version="1", low=0.5, high=40.0, scale="log",
        unit="radius, px", function=defocus_blur,
        formula="convolution with a disc of radius c whose rim fades over one pixel",
        source="Hendrycks and Dietterich 2019, ImageNet-C",
        departure="Rim smoothed by coverage instead of a disc of whole pixels; domain 0.5-40 px instead of 3-10.",
    ),
    Corruption(
        name="motion_blur", label="Motion blur", family="blur", version="1", low=0.1, high=100.0, scale="log",
        unit="length, px", function=motion_blur,
        formula="mean along a straight line of length c in a random direction",
        source="albumentations MotionBlur, as in the VCR program",
        departure="Every length from 0.1 to 100 px, and every direction.",
    ),
)  # fmt: skip
