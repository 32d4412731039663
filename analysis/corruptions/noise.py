"""Noise: an independent draw a pixel and channel.

A new function is one function and one line in `FAMILY`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from analysis.corruptions.fields import Field, frozen, normal_field, uniform_field
from analysis.corruptions.poisson import poisson_counts
from analysis.corruptions.registry import Corruption, Intensities


def gaussian_noise(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Add normal noise of standard deviation ``parameter`` (in units of the full range).

    Notes
    -----
    Hendrycks and Dietterich (2019), ``gaussian_noise``, without clipping the noise itself. The domain is widened to the
    strength at which pictures stop changing.
    """
    return intensities + np.float32(255.0 * parameter) * normal_field(intensities.shape, seed)


def shot_noise(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Count photons: Poisson draws with ``parameter`` photons expected at full intensity.

    Notes
    -----
    Hendrycks and Dietterich (2019), ``shot_noise``: ``Poisson(x c) / c``. Each pixel keeps its quantile of the
    distribution at every ``c``, so that the damage grows smoothly as photons get fewer.
    """
    counts = poisson_counts(np.rint(intensities).astype(np.uint8), parameter, seed)
    counts *= np.float32(255.0 / parameter)
    return counts


def impulse_noise(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Replace a share ``parameter`` of the values by black or white, with equal chance.

    Notes
    -----
    Hendrycks and Dietterich (2019), ``impulse_noise`` (salt and pepper), a draw a channel. What is lost at one share is
    lost at every larger one.
    """
    threshold, outcome = _impulses(intensities.shape, seed)
    return np.where(threshold < np.float32(parameter), outcome, intensities)


def uniform_noise(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Add uniform noise from [-parameter, parameter] (in units of the full range).

    Notes
    -----
    Geirhos et al. (2018), section 2.2: symmetric about 0.
    """
    # Differs from the program behind VCR: its noise is always positive and brightens the picture.
    return intensities + np.float32(255.0 * parameter) * uniform_field(intensities.shape, seed)


@lru_cache(maxsize=1)
def _impulses(shape: tuple[int, ...], seed: int) -> tuple[Field, Field]:
    """Share at which each value is lost, and what it becomes then."""
    signed = uniform_field(shape, seed)
    return frozen(np.abs(signed)), frozen(np.where(signed < 0, np.float32(0.0), np.float32(255.0)))


FAMILY: tuple[Corruption, ...] = (
    Corruption(
        name="gaussian_noise", label="Gaussian noise", family="noise", version="1", low=1e-3, high=10.0, scale="log",
        unit="standard deviation, share of the full range", function=gaussian_noise,
        formula="x + c z, z standard normal, one draw a pixel and channel",
        source="Hendrycks and Dietterich 2019, ImageNet-C",
        departure="Domain widened from 0.08-0.38 to 0.001-10.",
    ),
    Corruption(
        name="shot_noise", label="Shot noise", family="noise", version="1", low=1e6, high=0.02, scale="log",
        unit="photons at full intensity", function=shot_noise,
        formula="Poisson(c x) / c, one draw a pixel and channel; c falls as the damage grows",
        source="Hendrycks and Dietterich 2019, ImageNet-C",
        departure="Domain widened from 60-3 photons to 1,000,000-0.02; each pixel keeps its quantile at every c.",
    ),
    Corruption(
        name="impulse_noise", label="Impulse noise", family="noise", version="1", low=1e-5, high=0.9999, scale="log",
        unit="share of values replaced", function=impulse_noise,
        formula="0 or 255 with equal chance where u < c, else x; u uniform, one draw a pixel and channel",
        source="Hendrycks and Dietterich 2019, ImageNet-C",
        departure="Domain widened from 0.03-0.27 to 0.00001-0.9999.",
    ),
    Corruption(
        name="uniform_noise", label="Uniform noise", family="noise", version="1", low=1e-3, high=10.0, scale="log",
        unit="half width, share of the full range", function=uniform_noise,
        formula="x + c u, u uniform on [-1, 1), one draw a pixel and channel",
        source="Geirhos et al. 2018, section 2.2",
        departure="Domain widened from 0-0.9 to 0.001-10. The VCR program's noise is positive only; ours is symmetric.",
    ),
)  # fmt: skip
