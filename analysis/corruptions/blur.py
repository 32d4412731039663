"""Blur: local averages of intensities.

A new function is one function and one line in `FAMILY`.
"""

from __future__ import annotations

import cv2
import numpy as np

from analysis.corruptions.registry import Corruption, Intensities


def gaussian_blur(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Convolve with a normal kernel of standard deviation ``parameter`` px, cut at 4 of them, borders mirrored.

    Notes
    -----
    Hendrycks and Dietterich (2019), ``gaussian_blur``; the domain is widened.
    """
    blurred = cv2.GaussianBlur(intensities, (0, 0), sigmaX=parameter, borderType=cv2.BORDER_REFLECT_101)
    return np.asarray(blurred, dtype=np.float32)


FAMILY: tuple[Corruption, ...] = (
    Corruption(
        name="gaussian_blur", label="Gaussian blur", family="blur", version="1", low=0.15, high=20.0, scale="log",
        unit="standard deviation, px", function=gaussian_blur,
    ),
)  # fmt: skip
