"""Additive noise, one independent draw a pixel and channel.

A new function is one function and one line in `FAMILY`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from analysis.corruptions.registry import Corruption, Intensities


# One field is kept, because a search for a strength asks for the same field again and again.
@lru_cache(maxsize=1)
def _normal_field(shape: tuple[int, ...], seed: int) -> NDArray[np.float32]:
    field = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    field.flags.writeable = False
    return field


@lru_cache(maxsize=1)
def _uniform_field(shape: tuple[int, ...], seed: int) -> NDArray[np.float32]:
    field = np.random.default_rng(seed).random(shape, dtype=np.float32)
    field *= 2.0
    field -= 1.0
    field.flags.writeable = False
    return field


def gaussian_noise(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Add normal noise of standard deviation ``parameter`` (in units of the full range).

    Notes
    -----
    Hendrycks and Dietterich (2019), ``gaussian_noise``, without clipping the noise itself. The domain is widened to the
    strength at which pictures stop changing.
    """
    return intensities + np.float32(255.0 * parameter) * _normal_field(intensities.shape, seed)


def uniform_noise(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Add uniform noise from [-parameter, parameter] (in units of the full range).

    Notes
    -----
    Geirhos et al. (2018), section 2.2: symmetric about 0.
    """
    # Differs from the program behind VCR: its noise is always positive and brightens the picture.
    return intensities + np.float32(255.0 * parameter) * _uniform_field(intensities.shape, seed)


FAMILY: tuple[Corruption, ...] = (
    Corruption(
        name="gaussian_noise", label="Gaussian noise", family="noise", version="1", low=1e-3, high=5.0, scale="log",
        unit="standard deviation, share of the full range", function=gaussian_noise,
    ),
    Corruption(
        name="uniform_noise", label="Uniform noise", family="noise", version="1", low=1e-3, high=5.0, scale="log",
        unit="half width, share of the full range", function=uniform_noise,
    ),
)  # fmt: skip
