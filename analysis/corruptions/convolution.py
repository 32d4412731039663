"""Convolution with symmetric kernels, at the same speed for every width.

The border is mirrored (``d c b a | a b c d | d c b a``). With that border a kernel that is symmetric in both axes
multiplies the cosine transform of a picture, so that a kernel of any width costs one transform back; the transform
of the latest picture is kept, because a search blurs the same picture again and again.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from analysis import opencv as cv2
from analysis.corruptions.registry import Intensities

Kernel = NDArray[np.float64]

#: Half widths up to here are faster as a plain sum over the kernel (224 px, float32).
_DIRECT_RADIUS_PX = 20

_latest: tuple[Intensities, Intensities] | None = None


def blur_along_both_axes(intensities: Intensities, half_kernel: Kernel) -> Intensities:
    """Convolve rows and columns with one symmetric kernel.

    Parameters
    ----------
    intensities : ndarray of float32, shape (h, w, 3)
    half_kernel : ndarray of float64, shape (radius + 1,)
        Weights from the centre outwards; together (the centre once, the others twice) they make 1.

    Returns
    -------
    ndarray of float32, shape (h, w, 3)
    """
    if len(half_kernel) - 1 <= _DIRECT_RADIUS_PX:
        taps = np.concatenate([half_kernel[:0:-1], half_kernel]).astype(np.float32)
        blurred = cv2.sepFilter2D(intensities, -1, taps, taps, borderType=cv2.BORDER_REFLECT)
        return np.asarray(blurred, dtype=np.float32)
    height, width = intensities.shape[:2]
    gains = np.outer(_gains_1d(half_kernel, height), _gains_1d(half_kernel, width))
    return _multiply_spectrum(intensities, gains)


def blur_with_quadrant(intensities: Intensities, quadrant: Kernel) -> Intensities:
    """Convolve with a kernel that is symmetric in both axes.

    Parameters
    ----------
    intensities : ndarray of float32, shape (h, w, 3)
    quadrant : ndarray of float64, shape (radius + 1, radius + 1)
        Weights from the centre down and to the right; the whole kernel makes 1.

    Returns
    -------
    ndarray of float32, shape (h, w, 3)
    """
    from scipy import fft

    height, width = intensities.shape[:2]
    folded = _folded(_folded(quadrant, height).T, width).T.astype(np.float32)
    return _multiply_spectrum(intensities, fft.dctn(folded, type=1)[:height, :width])


def gaussian_half_kernel(sigma_px: float) -> Kernel:
    """Right half of a normal kernel, cut at four standard deviations, shape (radius + 1,)."""
    offsets = np.arange(int(np.ceil(4.0 * sigma_px)) + 1)
    weights = np.exp(-0.5 * (offsets / sigma_px) ** 2)
    return np.asarray(weights / (2.0 * weights.sum() - weights[0]), dtype=np.float64)


def _gains_1d(half_kernel: Kernel, length: int) -> Kernel:
    from scipy import fft

    return np.asarray(fft.dct(_folded(half_kernel, length), type=1)[:length], dtype=np.float64)


def _folded(half: Kernel, length: int) -> Kernel:
    """Half kernel on offsets 0 to ``length``: a kernel wider than the picture meets the mirrored picture again.

    Raises nothing: offsets have the period ``2 length``, and the kernel is even. DCT-I counts inner offsets twice and
    the two ends once, so that what falls on the far end is doubled here.
    """
    offsets = np.arange(len(half)) % (2 * length)
    places = np.minimum(offsets, 2 * length - offsets)
    weights = np.where(np.arange(len(half)) == 0, 1.0, 2.0)
    folded = np.zeros((length + 1, *half.shape[1:]))
    np.add.at(folded, places, (half.T * weights).T)
    folded[1:length] /= 2.0
    return folded


def _multiply_spectrum(intensities: Intensities, gains: NDArray[np.floating]) -> Intensities:
    from scipy import fft

    plane = gains.astype(np.float32)
    spectrum = cv2.multiply(_spectrum(intensities), cv2.merge([plane, plane, plane]))
    return np.asarray(fft.idctn(spectrum, axes=(0, 1), overwrite_x=True), dtype=np.float32)


def _spectrum(intensities: Intensities) -> Intensities:
    from scipy import fft

    global _latest
    latest = _latest
    if latest is None or not np.array_equal(latest[0], intensities):
        latest = (intensities.copy(), fft.dctn(intensities, axes=(0, 1)))
        _latest = latest
    return latest[1]


@lru_cache(maxsize=8)
def disc_quadrant(radius_px: float) -> Kernel:
    """Right lower quarter of a disc whose rim fades over one pixel, shape (ceil(radius) + 1, same), the whole makes 1.

    A pixel's weight is ``clip(radius + 1/2 - distance, 0, 1)``, which is continuous in the radius; at 1/2 px one pixel
    is left.
    """
    offsets = np.arange(int(np.ceil(radius_px + 0.5)) + 1)
    weights = np.clip(radius_px + 0.5 - np.hypot(offsets[:, None], offsets), 0.0, 1.0)
    twice = np.where(offsets == 0, 1.0, 2.0)
    return np.asarray(weights / (weights * twice[:, None] * twice).sum(), dtype=np.float64)
