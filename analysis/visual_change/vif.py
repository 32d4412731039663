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

import numpy as np
from numpy.typing import NDArray

from analysis import opencv as cv2
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
    """Filters of the pyramid; ``lo_phases`` is ``lo`` split by even and odd rows and columns."""

    lo0: _Field
    lo_radius: int
    lo_phases: tuple[tuple[int, int, _Field], ...]
    bands: tuple[_Field, _Field]


@cache
def _taps() -> _Taps:
    table = json.loads(Path(__file__).with_name("sp5_taps.json").read_text(encoding="utf-8"))
    lo0, lo, first, second = (np.array(table[key], dtype=np.float64) for key in ("lo0", "lo", "band_0", "band_1"))
    phases = tuple(
        (row, column, np.ascontiguousarray(lo[row::2, column::2])) for row in range(2) for column in range(2)
    )
    return _Taps(lo0=lo0, lo_radius=lo.shape[0] // 2, lo_phases=phases, bands=(first, second))


@dataclass(frozen=True)
class _Band:
    """A band of the reference, and where its windows lie.

    Parameters
    ----------
    y : ndarray of float64, shape (height, width)
        Whole blocks of 3 x 3 px.
    window : int
        Side of the windows, px, one around the centre of each block.
    first : int
        First row and column of the first window that lies within the band.
    shape : tuple of int
        Rows and columns of windows that do.
    span : slice
        Their place among the windows of all bands.
    """

    y: _Field
    window: int
    first: int
    shape: tuple[int, int]
    span: slice


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
        luminance = check_reference(picture)
        self._shape = luminance.shape
        self._bands = _place(_decompose(luminance))
        mixtures = [_mixture(band) for band in self._bands]
        sizes = [rows * columns for rows, columns in (band.shape for band in self._bands)]
        # All windows of all bands stand in one row each; one call then serves eight bands.
        self._area = np.repeat([1.0 / band.window**2 for band in self._bands], sizes)
        self._weight = np.repeat([1.0 / size for size in sizes], sizes)
        eigenvalues = np.repeat(np.array([lam for lam, _ in mixtures]).T, sizes, axis=1)
        # The scale mixture's variance along each of the nine axes of a block.
        self._power = eigenvalues * np.concatenate([s.ravel() for _, s in mixtures])
        sums, squares = self._sums([band.y for band in self._bands])
        self._mean = sums * self._area
        variance = squares * self._area - self._mean**2
        # Where the reference is flat nothing can be kept.
        self._inverse = np.where(variance < _TOLERANCE, 0.0, 1.0 / (np.maximum(variance, 0.0) + _TOLERANCE))
        information = np.log1p(self._power / _NOISE_VARIANCE)
        self._information = float((information @ self._weight).sum()) + len(self._bands) * _FLOOR
        #: Twelve numbers of the picture that tell how easily it changes: see `_portrait`.
        self.portrait = self._portrait(luminance, information)

    def _portrait(self, luminance: NDArray[np.uint8], information: _Field) -> _Field:
        """Energy of four scales, the finest three scales' shares of the information, all of it, and the greys.

        Energies and information are logarithms; greys are mean, standard deviation, and the shares of dark (under 25)
        and bright pixels (over 230).
        """
        spans = [band.span for band in self._bands]
        energies = np.array([np.log(self._power[:, span].sum(axis=0).mean() + 1e-3) for span in spans])
        shares = np.array([(information[:, span] @ self._weight[span]).sum() for span in spans])
        by_scale = [values.reshape(_SCALES, 2).mean(axis=1) for values in (energies, shares / (shares.sum() + _FLOOR))]
        greys = cv2.calcHist([luminance], [0], None, [256], [0, 256]).ravel() / luminance.size
        levels = np.arange(256) / 255
        mean = float(greys @ levels)
        spread = math.sqrt(max(float(greys @ (levels - mean) ** 2), 0.0))
        tones = [mean, spread, greys[:25].sum(), greys[231:].sum()]
        return np.array([*by_scale[0], *by_scale[1][1:], math.log(shares.sum() + _FLOOR), *tones])

    def vif(self, other: NDArray[Any]) -> float:
        """VIF of another picture: 1 for the reference itself, about 0 when nothing is left of it.

        May exceed 1 slightly, where contrast is raised.

        Raises
        ------
        PictureRefused
            If the other picture has another size or cannot be measured.
        """
        luminance = check_other(other, self._shape)
        fields = [_whole_blocks(y) for y in _decompose(luminance)]
        mean, variance = self._sums(fields)
        mean *= self._area
        variance *= self._area
        variance -= mean * mean
        covariance = np.empty_like(mean)
        for band, y in zip(self._bands, fields, strict=True):
            _window_sums(cv2.integral(band.y * y), band, covariance[band.span])
        covariance *= self._area
        covariance -= self._mean * mean
        return self._kept_information(variance, covariance) / self._information

    def visual_change(self, other: NDArray[Any]) -> float:
        """Visual change of another picture, max(0, 1 - VIF), in [0, 1]."""
        return max(0.0, 1.0 - self.vif(other))

    def _sums(self, fields: list[_Field]) -> tuple[_Field, _Field]:
        """Sums of values and of squares over all windows of all bands."""
        sums, squares = np.empty_like(self._area), np.empty_like(self._area)
        for band, y in zip(self._bands, fields, strict=True):
            integral, integral_of_squares = cv2.integral2(y)
            _window_sums(integral, band, sums[band.span])
            _window_sums(integral_of_squares, band, squares[band.span])
        return sums, squares

    def _kept_information(self, variance: _Field, covariance: _Field) -> float:
        """Information about the reference that passes the channel ``other = gain * reference + noise``."""
        gain = covariance * self._inverse
        # A negative gain, or a flat picture, keeps nothing; all of its variance is noise.
        np.maximum(gain, 0.0, out=gain)
        gain *= variance >= _TOLERANCE
        noise = variance - gain * covariance
        np.maximum(noise, _TOLERANCE, out=noise)
        noise += _NOISE_VARIANCE
        gain *= gain
        gain /= noise
        ratios = self._power * gain
        ratios += 1.0
        # A sum of nine logarithms is three logarithms of products; all nine in one product could overflow.
        product = ratios[:3]
        product *= ratios[3:6]
        product *= ratios[6:]
        return float((np.log(product, out=product) @ self._weight).sum()) + len(self._bands) * _FLOOR


def check_reference(picture: NDArray[Any]) -> NDArray[np.uint8]:
    """Luminance of a picture that others can be compared with.

    Raises
    ------
    PictureRefused
        If it cannot be measured, or has one single grey level.
    """
    luminance = grey(picture)
    if luminance.min() == luminance.max():
        raise PictureRefused(
            "Visual change is undefined for a picture of one single grey level: there is nothing to lose."
        )
    return luminance


def check_other(picture: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Luminance of a picture that is compared with a reference of this shape.

    Raises
    ------
    PictureRefused
        If it cannot be measured, or has another size.
    """
    luminance = grey(picture)
    if luminance.shape != shape:
        (height, width), (h, w) = shape, luminance.shape
        raise PictureRefused(
            f"Both pictures must have one size: the reference has {width} x {height} px, the other {w} x {h} px."
        )
    return luminance


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


def _halve(field: _Field) -> _Field:
    """Low-pass filter, computed at every other pixel alone: the sum of four filters on a quarter of the pixels each."""
    taps = _taps()
    rows, columns = (math.ceil(side / 2) for side in field.shape)
    radius = taps.lo_radius
    padded = cv2.copyMakeBorder(field, radius, radius, radius, radius, cv2.BORDER_REFLECT_101)
    halved = np.zeros((rows, columns))
    for row, column, phase in taps.lo_phases:
        part = np.ascontiguousarray(padded[row::2, column::2])
        halved += cv2.filter2D(part, -1, phase, anchor=(0, 0), borderType=cv2.BORDER_CONSTANT)[:rows, :columns]
    return halved


def _decompose(luminance: NDArray[np.uint8]) -> list[_Field]:
    """Eight bands, the coarsest scale first."""
    taps = _taps()
    low = _filter(luminance.astype(np.float64), taps.lo0)
    scales = []
    for scale in range(_SCALES):
        if scale:
            low = _halve(low)
        scales.append([_filter(low, band) for band in taps.bands])
    return [y for pair in reversed(scales) for y in pair]


def _whole_blocks(y: _Field) -> _Field:
    height, width = y.shape
    return y[: height - height % _BLOCK, : width - width % _BLOCK]


def _place(fields: list[_Field]) -> list[_Band]:
    bands = []
    end = 0
    for rank, field in enumerate(fields):
        y = np.ascontiguousarray(_whole_blocks(field))
        window = int(2 ** math.ceil((rank + 1) / 2) + 1)
        # Blocks at the border, whose windows would leave the picture, are left out.
        margin = math.ceil((window - 1) / 2 / _BLOCK)
        rows, columns = (side // _BLOCK - 2 * margin for side in y.shape)
        begin, end = end, end + rows * columns
        first = _BLOCK * margin + _BLOCK // 2 - window // 2
        bands.append(_Band(y=y, window=window, first=first, shape=(rows, columns), span=slice(begin, end)))
    return bands


def _window_sums(integral: _Field, band: _Band, sums: _Field) -> None:
    """Write the sums over a band's windows, from the integral picture, into a flat view."""
    rows, columns = band.shape
    top, bottom = (integral[start::_BLOCK][:rows] for start in (band.first, band.first + band.window))
    strips = bottom - top
    left, right = (strips[:, start::_BLOCK][:, :columns] for start in (band.first, band.first + band.window))
    np.subtract(right, left, out=sums.reshape(rows, columns))


def _mixture(band: _Band) -> tuple[_Field, _Field]:
    """Gaussian scale mixture of a band: nine eigenvalues of its 3 x 3 patches, and a scale for each placed block."""
    y = band.y
    height, width = y.shape
    # Nine shifted copies of the band hold all overlapping 3 x 3 patches as columns; ones beneath them count and sum.
    patches = np.empty((_BLOCK**2 + 1, height - _BLOCK + 1, width - _BLOCK + 1))
    patches[-1] = 1.0
    for place, patch in enumerate(patches[:-1]):
        row, column = divmod(place, _BLOCK)
        patch[...] = y[row : height - _BLOCK + 1 + row, column : width - _BLOCK + 1 + column]
    patches = patches.reshape(_BLOCK**2 + 1, -1)
    products = patches @ patches.T
    sums, number = products[-1, :-1], products[-1, -1]
    # Of a band of a pyramid the mean is near 0: taken away from the products, it costs no digit.
    lam, vectors = np.linalg.eigh((products[:-1, :-1] - np.outer(sums, sums) / number) / (number - 1))
    lam = np.maximum(lam, _TOLERANCE)
    (rows, columns), margin = band.shape, (height // _BLOCK - band.shape[0]) // 2
    inner = y[margin * _BLOCK :, margin * _BLOCK :][: rows * _BLOCK, : columns * _BLOCK]
    blocks = inner.reshape(rows, _BLOCK, columns, _BLOCK).transpose(1, 3, 0, 2).reshape(_BLOCK**2, -1)
    return lam, ((vectors.T @ blocks) ** 2 / lam[:, None]).sum(axis=0) / _BLOCK**2
