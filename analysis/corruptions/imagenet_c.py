"""The five published levels of the nine functions that ImageNet-C and this package share.

Hendrycks and Dietterich (2019), "Benchmarking neural network robustness to common corruptions and perturbations", with
the numbers of their program (``make_imagenet_c.py``), on the kernels of this package. The parameter is the level, 1 to
5. Differs from ImageNet-C: the kernels are those of the continuous functions (their departures hold here, too), and no
JPEG compression follows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from analysis.corruptions.blur import blur_along_line, defocus_blur, gaussian_blur, glass
from analysis.corruptions.colour import brightness
from analysis.corruptions.convolution import blur_along_both_axes, gaussian_half_kernel
from analysis.corruptions.noise import gaussian_noise, impulse_noise, shot_noise
from analysis.corruptions.registry import Corruption, Intensities, collect
from analysis.corruptions.weather import frost_version, mix_with_ice

VERSION = "imagenet-c-1"


def _at_level(
    function: Callable[..., Intensities], published: tuple[Any, ...], intensities: Intensities, level: float, seed: int
) -> Intensities:
    return function(intensities, published[int(level) - 1], seed)


def _defocus(intensities: Intensities, numbers: tuple[float, float], seed: int) -> Intensities:
    radius_px, alias_sigma_px = numbers
    return blur_along_both_axes(defocus_blur(intensities, radius_px, seed), gaussian_half_kernel(alias_sigma_px))


def _glass(intensities: Intensities, numbers: tuple[float, float, int], seed: int) -> Intensities:
    """Two moves an iteration: a swap moves the pixel that is swapped and the one that it is swapped with."""
    sigma_px, displacement_px, iterations = numbers
    return glass(intensities, sigma_px, displacement_px, 2 * iterations, seed)


def _motion(intensities: Intensities, numbers: tuple[int, float], seed: int) -> Intensities:
    """Trail that fades as half a normal density, in a direction within 45 degrees of the horizontal."""
    radius_px, sigma_px = numbers
    places = np.arange(2.0 * radius_px + 1.0)
    weights = np.exp(-0.5 * (places / sigma_px) ** 2)
    angle = math.radians(float(np.random.default_rng(seed).uniform(-45.0, 45.0)))
    return blur_along_line(intensities, places, weights / weights.sum(), angle)


def _frost(intensities: Intensities, numbers: tuple[float, float], seed: int) -> Intensities:
    picture_weight, ice_weight = numbers
    return mix_with_ice(intensities, picture_weight, ice_weight, seed)


#: Function, and its published numbers at the levels 1 to 5.
_PUBLISHED: dict[str, tuple[str, Callable[..., Intensities], tuple[Any, ...]]] = {
    "gaussian_noise": ("Gaussian noise", gaussian_noise, (0.08, 0.12, 0.18, 0.26, 0.38)),
    "shot_noise": ("Shot noise", shot_noise, (60.0, 25.0, 12.0, 5.0, 3.0)),
    "impulse_noise": ("Impulse noise", impulse_noise, (0.03, 0.06, 0.09, 0.17, 0.27)),
    "defocus_blur": ("Defocus blur", _defocus, ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5))),
    "glass_blur": ("Glass blur", _glass, ((0.7, 1, 2), (0.9, 2, 1), (1.0, 2, 3), (1.1, 3, 2), (1.5, 4, 2))),
    "motion_blur": ("Motion blur", _motion, ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15))),
    "frost": ("Frost", _frost, ((1.0, 0.4), (0.8, 0.6), (0.7, 0.7), (0.65, 0.7), (0.6, 0.75))),
    "brightness": ("Brightness", brightness, (0.1, 0.2, 0.3, 0.4, 0.5)),
    "gaussian_blur": ("Gaussian blur", gaussian_blur, (1.0, 2.0, 3.0, 4.0, 6.0)),
}

_FAMILIES = {"brightness": "colour", "frost": "weather"}

#: The nine shared functions at their published levels, by name.
LEVELS: dict[str, Corruption] = collect(
    tuple(
        Corruption(
            name=name,
            label=f"{label}, ImageNet-C levels",
            family=_FAMILIES.get(name, name.rpartition("_")[2]),
            version=frost_version(VERSION) if name == "frost" else VERSION,
            low=1,
            high=5,
            scale="linear",
            unit="level",
            function=partial(_at_level, function, published),
            is_levelled=True,
            formula="numbers at the levels 1 to 5: " + "; ".join(str(numbers).strip("()") for numbers in published),
            source="Hendrycks and Dietterich 2019, make_imagenet_c.py",
            departure="On the kernels of the continuous functions; no JPEG compression.",
        )
        for name, (label, function, published) in _PUBLISHED.items()
    )
)
