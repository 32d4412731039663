"""Colour: changes of hue, saturation and brightness, each pixel by itself.

A new function is one function and one line in `FAMILY`. Hue, saturation and value are those of the usual hexagonal
cone: value = the largest of R, G, B.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from analysis import opencv as cv2
from analysis.corruptions.registry import Corruption, Intensities

_FULL = np.float32(255.0)
#: Of R, G and B in the grey of a pixel (ITU-R BT.601, as everywhere here).
_GREY_WEIGHTS = (0.299, 0.587, 0.114)


def brightness(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Add ``parameter`` (in units of the full range) to the value, clipped at 1; hue and saturation stay.

    Notes
    -----
    Hendrycks and Dietterich (2019), ``brightness``. With hue and saturation fixed, the colour scales with the value,
    so no conversion is needed; black has no hue and becomes grey.
    """
    value = np.maximum(np.maximum(intensities[..., 0], intensities[..., 1]), intensities[..., 2])
    raised = np.minimum(value + _FULL * np.float32(parameter), _FULL)
    is_black = value <= 0
    gain = raised / np.where(is_black, np.float32(1.0), value)
    brighter = intensities * gain[..., None]
    if is_black.any():
        brighter[is_black] = raised[is_black][:, None]
    return np.asarray(brighter, dtype=np.float32)


def hue_saturation_value(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Shift hue, saturation and value along a seeded direction, by ``parameter`` in its largest component.

    Notes
    -----
    The ``HueSaturationValue`` of albumentations, which VCR names. Components are in units of half a turn of hue and of
    the full range of saturation and value, which are clipped.
    """
    turn, saturation, value = parameter * random_direction(3, seed)
    hue, *others = cv2.split(cv2.cvtColor(intensities / _FULL, cv2.COLOR_RGB2HSV))
    for plane, shift in zip(others, (saturation, value), strict=True):
        plane += np.float32(shift)
        np.clip(plane, np.float32(0.0), np.float32(1.0), out=plane)
    return _from_planes(_turned(hue, turn), *others)


def color_jitter(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Change brightness, contrast, saturation and hue, in this order, along a seeded direction.

    Notes
    -----
    The ``ColorJitter`` of torchvision and albumentations, which VCR names. Brightness multiplies, contrast scales about
    the mean grey, saturation scales about each pixel's grey, with factors of 1 plus the component times ``parameter``,
    from 0 to 2; hue turns by up to half a turn. Each step is clipped to the range.
    """
    lightness, contrast, saturation, turn = parameter * random_direction(4, seed)
    jittered = _clipped(intensities * np.float32(1.0 + lightness))
    mean = np.float32(cv2.cvtColor(jittered, cv2.COLOR_RGB2GRAY).mean(dtype=np.float64))
    jittered = _clipped(mean + (jittered - mean) * np.float32(1.0 + contrast))
    towards_grey = (1.0 + saturation) * np.eye(3) - saturation * np.tile(_GREY_WEIGHTS, (3, 1))
    jittered = _clipped(cv2.transform(jittered, towards_grey.astype(np.float32)))
    hue, *others = cv2.split(cv2.cvtColor(jittered / _FULL, cv2.COLOR_RGB2HSV))
    return _from_planes(_turned(hue, turn), *others)


def random_direction(components: int, seed: int) -> NDArray[np.float64]:
    """Direction of independent uniform components, scaled so that the largest is 1 or -1, shape (components,)."""
    direction = np.random.default_rng(seed).uniform(-1.0, 1.0, components)
    return np.asarray(direction / np.abs(direction).max(), dtype=np.float64)


def _clipped(intensities: Intensities) -> Intensities:
    return np.clip(intensities, np.float32(0.0), _FULL)


def _turned(hue: Intensities, half_turns: float) -> Intensities:
    """Hue, in [0, 360) degrees, plus ``half_turns``, in [-1, 1]."""
    turned = hue + np.float32(180.0 * half_turns + (360.0 if half_turns < 0 else 0.0))
    turned -= np.float32(360.0) * (turned >= np.float32(360.0))
    return turned


def _from_planes(hue: Intensities, saturation: Intensities, value: Intensities) -> Intensities:
    colours = cv2.cvtColor(cv2.merge([hue, saturation, value]), cv2.COLOR_HSV2RGB)
    return np.asarray(np.multiply(colours, _FULL, out=colours), dtype=np.float32)


FAMILY: tuple[Corruption, ...] = (
    Corruption(
        name="brightness", label="Brightness", family="colour", version="1", low=0.001, high=1.0, scale="log",
        unit="added to the value, share of the full range", function=brightness,
        formula="V + c in hue, saturation, value; clipped at 1",
        source="Hendrycks and Dietterich 2019, ImageNet-C",
        departure="Domain widened from 0.1-0.5 to 0.001-1.",
    ),
    Corruption(
        name="hue_saturation_value", label="Hue, saturation, value", family="colour", version="1", low=0.0005, high=1.0,
        scale="log", unit="share of the path along a random direction", function=hue_saturation_value, redraws=5,
        formula="(H, S, V) + c (180° h, s, v), largest of |h|, |s|, |v| = 1",
        source="albumentations HueSaturationValue, named in VCR",
        departure="A random direction and a path along it instead of three independent draws.",
    ),
    Corruption(
        name="color_jitter", label="Color jitter", family="colour", version="1", low=0.0005, high=1.0, scale="log",
        unit="share of the path along a random direction", function=color_jitter, redraws=5,
        formula="brightness × (1 + c b), contrast × (1 + c k), saturation × (1 + c s), hue + c h half a turn, "
        "largest of |b|, |k|, |s|, |h| = 1",
        source="torchvision ColorJitter, named in VCR",
        departure="A random direction and a path along it instead of four independent draws; fixed order of steps.",
    ),
)  # fmt: skip
