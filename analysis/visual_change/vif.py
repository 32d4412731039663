"""Wavelet-domain visual information fidelity (VIF), and visual change = max(0, 1 - VIF).

Sheikh and Bovik (2006), "Image information and visual quality", in the form that VCR (Shen et al.) measures with: the
public implementation of A. K. Venkataramanan (github.com/abhinaukumar/vif), order-5 steerable pyramid in space, four
scales, two of six orientations, mirrored borders. Only those eight bands are computed, and all that depends on the
reference picture alone is kept in `VifReference`.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from analysis.errors import PictureRefused

#: Stored with every stimulus; the version rises when a value changes by more than 1e-9.
METRIC = "vif-wavelet"
METRIC_VERSION = 1

MINIMUM_SIDE_PX = 96

_SCALES = 4
_BLOCK = 3
_NOISE_VARIANCE = 0.1
_TOLERANCE = 1e-15
_FLOOR = 1e-4

_Field = NDArray[np.float64]


@dataclass(frozen=True)
class _Taps:
    lo0: _Field
    lo: _Field
    bands: tuple[_Field, _Field]


@cache
def _taps() -> _Taps:
    table = json.loads(Path(__file__).with_name("sp5_taps.json").read_text(encoding="utf-8"))
    lo0, lo, first, second = (np.array(table[key], dtype=np.float64) for key in ("lo0", "lo", "band_0", "band_1"))
    return _Taps(lo0=lo0, lo=lo, bands=(first, second))


@dataclass(frozen=True)
class _Band:
    """What VIF needs of one band of the reference; `s` and `lam` belong to its Gaussian scale mixture."""

    y: _Field
    window: int
    margin: int
    lam: _Field
    s: _Field
    mean: _Field
    variance: _Field


def grey(picture: NDArray[Any]) -> NDArray[np.uint8]:
    """Luminance 0.299 R + 0.587 G + 0.114 B, rounded as OpenCV does.

    Parameters
    ----------
    picture : ndarray of uint8, shape (h, w) or (h, w, 3)
        Grey or RGB.

    Returns
    -------
    ndarray of uint8, shape (h, w)

    Raises
    ------
    PictureRefused
        If dtype or shape differ, or a side is under 96 px, where four scales do not fit.
    """
    if getattr(picture, "dtype", None) != np.uint8:
        kind = getattr(picture, "dtype", type(picture).__name__)
        raise PictureRefused(f"Visual change is measured on pictures of uint8, not {kind}.")
    if picture.ndim not in (2, 3) or (picture.ndim == 3 and picture.shape[2] != 3):
        raise PictureRefused(
            f"A picture must have the shape (height, width) or (height, width, 3), not {picture.shape}."
        )
    if min(picture.shape[:2]) < MINIMUM_SIDE_PX:
        height, width = picture.shape[:2]
        raise PictureRefused(
            f"Visual change needs sides of at least {MINIMUM_SIDE_PX} px; this picture has {width} x {height} px."
        )
    if picture.ndim == 2:
        return picture
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_RGB2GRAY), dtype=np.uint8)


class VifReference:
    """A reference picture, ready to be compared with many others.

    Parameters
    ----------
    picture : ndarray of uint8, shape (h, w) or (h, w, 3)
        Sides of at least 96 px, not constant.

    Raises
    ------
    PictureRefused
        If the picture cannot be a reference.
    """

    def __init__(self, picture: NDArray[Any]) -> None:
        luminance = grey(picture)
        if luminance.min() == luminance.max():
            raise PictureRefused(
                "Visual change is undefined for a picture of one single grey level: there is nothing to lose."
            )
        self._shape = luminance.shape
        self._bands = [_describe(y, rank) for rank, y in enumerate(_decompose(luminance))]
        self._information = sum(
            sum(float(np.log1p(band.s * (lam / _NOISE_VARIANCE)).mean()) for lam in band.lam) + _FLOOR
            for band in self._bands
        )

    def vif(self, other: NDArray[Any]) -> float:
        """VIF of another picture: 1 for the reference itself, about 0 when nothing is left of it.

        May exceed 1 slightly, where contrast is raised.

        Raises
        ------
        PictureRefused
            If the other picture has another size or cannot be measured.
        """
        luminance = grey(other)
        if luminance.shape != self._shape:
            (height, width), (h, w) = self._shape, luminance.shape
            raise PictureRefused(
                f"Both pictures must have one size: the reference has {width} x {height} px, the other {w} x {h} px."
            )
        kept = sum(
            _kept_information(band, y) + _FLOOR for band, y in zip(self._bands, _decompose(luminance), strict=True)
        )
        return kept / self._information

    def visual_change(self, other: NDArray[Any]) -> float:
        """Visual change of another picture, max(0, 1 - VIF), in [0, 1]."""
        return max(0.0, 1.0 - self.vif(other))


def vif(reference: NDArray[Any], other: NDArray[Any]) -> float:
    """VIF of ``other`` against ``reference``; see `VifReference`."""
    return VifReference(reference).vif(other)


def visual_change(reference: NDArray[Any], other: NDArray[Any]) -> float:
    """Visual change from ``reference`` to ``other``, max(0, 1 - VIF), in [0, 1].

    Notes
    -----
    Delta-v of VCR (Shen et al.), section 3. It depends on the size of the pictures: measure what is shown.
    """
    return VifReference(reference).visual_change(other)


def _filter(field: _Field, taps: _Field) -> _Field:
    return np.asarray(cv2.filter2D(field, -1, taps, borderType=cv2.BORDER_REFLECT_101))


def _decompose(luminance: NDArray[np.uint8]) -> list[_Field]:
    """Eight bands, the coarsest scale first, each cut to whole blocks."""
    taps = _taps()
    low = _filter(luminance.astype(np.float64), taps.lo0)
    scales = []
    for scale in range(_SCALES):
        if scale:
            low = np.ascontiguousarray(_filter(low, taps.lo)[::2, ::2])
        scales.append([_filter(low, band) for band in taps.bands])
    return [_whole_blocks(y) for pair in reversed(scales) for y in pair]


def _whole_blocks(y: _Field) -> _Field:
    height, width = y.shape
    return np.ascontiguousarray(y[: height - height % _BLOCK, : width - width % _BLOCK])


def _local_mean(y: _Field, window: int) -> _Field:
    """Mean over window x window px around the centre of every block."""
    mean = cv2.boxFilter(y, -1, (window, window), borderType=cv2.BORDER_REFLECT_101)
    return np.asarray(mean[1::_BLOCK, 1::_BLOCK])


def _inner(field: _Field, margin: int) -> _Field:
    return field[margin:-margin, margin:-margin]


def _describe(y: _Field, rank: int) -> _Band:
    window = 2 ** math.ceil((rank + 1) / 2) + 1
    margin = math.ceil((window - 1) / 2 / _BLOCK)
    height, width = y.shape
    rows, columns = height // _BLOCK, width // _BLOCK
    # Nine shifted copies of the band hold all overlapping 3 x 3 patches as columns.
    patches = np.stack(
        [
            y[row : height - _BLOCK + 1 + row, column : width - _BLOCK + 1 + column].ravel()
            for row in range(_BLOCK)
            for column in range(_BLOCK)
        ]
    )
    patches -= patches.mean(axis=1, keepdims=True)
    lam, vectors = np.linalg.eigh(patches @ patches.T / (patches.shape[1] - 1))
    lam = np.maximum(lam, _TOLERANCE)
    blocks = y.reshape(rows, _BLOCK, columns, _BLOCK).transpose(0, 2, 1, 3).reshape(-1, _BLOCK**2)
    s = (((blocks @ vectors) ** 2 / lam).sum(axis=1) / _BLOCK**2).reshape(rows, columns)
    mean = _local_mean(y, window)
    variance = np.maximum(_local_mean(y * y, window) - mean * mean, 0.0)
    return _Band(y=y, window=window, margin=margin, lam=lam, s=_inner(s, margin), mean=mean, variance=variance)


def _kept_information(band: _Band, y: _Field) -> float:
    """Information about the reference's band that passes the channel ``y = gain * reference + noise``."""
    mean = _local_mean(y, band.window)
    variance = _local_mean(y * y, band.window) - mean * mean
    covariance = _local_mean(band.y * y, band.window) - band.mean * mean
    covariance[(variance < 0) | (band.variance <= 0)] = 0.0
    variance = np.maximum(variance, 0.0)

    gain = covariance / (band.variance + _TOLERANCE)
    noise = variance - gain * covariance
    empty = band.variance < _TOLERANCE
    gain[empty] = 0.0
    noise[empty] = variance[empty]
    flat = variance < _TOLERANCE
    gain[flat] = 0.0
    noise[flat] = 0.0
    inverted = gain < 0
    noise[inverted] = variance[inverted]
    gain[inverted] = 0.0
    noise = np.maximum(noise, _TOLERANCE)

    ratio = _inner(gain * gain / (noise + _NOISE_VARIANCE), band.margin) * band.s
    # A sum of nine logarithms is three logarithms of products; all nine in one product could overflow.
    information = 0.0
    for start in range(0, len(band.lam), 3):
        first, second, third = band.lam[start : start + 3]
        product = (1.0 + ratio * first) * (1.0 + ratio * second)
        product *= 1.0 + ratio * third
        information += float(np.log(product).mean())
    return information
