"""Wavelet VIF written down once more from its definition, on the public steerable pyramid; slow and plain.

Sheikh and Bovik (2006): the reference's bands are Gaussian scale mixtures of 3 x 3 blocks; the other picture is the
reference through a channel of local gain and noise; VIF is the share of information that both eyes' noise leaves.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from pyrtools.pyramids import SteerablePyramidSpace

BLOCK = 3
EYE_NOISE = 0.1
TINY = 1e-15

Field = NDArray[np.float64]


def vif(reference: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """VIF of two grey pictures."""
    reference_bands, other_bands = _bands(reference), _bands(other)
    kept = sum(_information(x, y, rank) for rank, (x, y) in enumerate(zip(reference_bands, other_bands, strict=True)))
    there = sum(_information(x, None, rank) for rank, x in enumerate(reference_bands))
    return kept / there


def _bands(grey: NDArray[np.uint8]) -> list[Field]:
    pyramid = SteerablePyramidSpace(grey.astype(np.float64), height=4, order=5, edge_type="reflect1").pyr_coeffs
    bands = [pyramid[scale, orientation] for scale in (3, 2, 1, 0) for orientation in (3, 0)]
    return [band[: len(band) // BLOCK * BLOCK, : band.shape[1] // BLOCK * BLOCK] for band in bands]


def _information(x: Field, y: Field | None, rank: int) -> float:
    """What passes from x to y, or, without y, what there is in x; a small constant keeps the ratio defined."""
    side = 2 ** math.ceil((rank + 1) / 2) + 1
    margin = math.ceil((side - 1) / 2 / BLOCK)
    eigenvalues, scales = _mixture(x)
    scales = scales[margin:-margin, margin:-margin]
    if y is None:
        gain, noise = np.ones_like(scales), np.zeros_like(scales)
    else:
        gain, noise = _channel(_windows(x, side, margin), _windows(y, side, margin))
    signal = (gain**2 * scales / (noise + EYE_NOISE))[..., None] * eigenvalues
    return float(np.log(1 + signal).mean(axis=(0, 1)).sum()) + 1e-4


def _mixture(x: Field) -> tuple[Field, Field]:
    patches = sliding_window_view(x, (BLOCK, BLOCK)).reshape(-1, BLOCK**2)
    eigenvalues, vectors = np.linalg.eigh(np.cov(patches.T))
    eigenvalues = np.maximum(eigenvalues, TINY)
    whitened = sliding_window_view(x, (BLOCK, BLOCK))[::BLOCK, ::BLOCK].reshape(-1, BLOCK**2) @ vectors
    scales = (whitened**2 / eigenvalues).mean(axis=1)
    return eigenvalues, scales.reshape(x.shape[0] // BLOCK, x.shape[1] // BLOCK)


def _windows(field: Field, side: int, margin: int) -> Field:
    """Windows around the centres of the blocks, without those at the border."""
    first = margin * BLOCK + 1 - side // 2
    windows = sliding_window_view(field, (side, side))[first::BLOCK, first::BLOCK]
    rows, columns = (length // BLOCK - 2 * margin for length in field.shape)
    return windows[:rows, :columns].reshape(rows, columns, -1)


def _channel(x: Field, y: Field) -> tuple[Field, Field]:
    x = x - x.mean(axis=2, keepdims=True)
    y = y - y.mean(axis=2, keepdims=True)
    x_variance, y_variance, covariance = (x**2).mean(axis=2), (y**2).mean(axis=2), (x * y).mean(axis=2)
    gain = covariance / (x_variance + TINY)
    gain[(gain < 0) | (x_variance < TINY) | (y_variance < TINY)] = 0
    return gain, np.maximum(y_variance - gain * covariance, TINY)
