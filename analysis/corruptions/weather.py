"""Weather: frost on the pane.

A new function is one function and one line in `FAMILY`. The textures of ice are drawn (`analysis.corruptions.ice`), or
photographs of the lab's own, when the environment variable ``FROST_TEXTURES`` names their folder; then the version of
the function tells which ones.
"""

from __future__ import annotations

import os
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.corruptions.fields import Field, frozen
from analysis.corruptions.ice import TEXTURES, ice_texture
from analysis.corruptions.photographs import Photographs, photographs_in
from analysis.corruptions.registry import Corruption, Intensities

#: The picture's weight falls from 1 along a power of the ice's weight beyond `_FADING_FROM`: through the published
#: levels (0.84, 0.68 and 0.59 for the published 0.8, 0.7 or 0.65, and 0.6), and to 0 at the end.
_FADING_FROM = 0.4
_FADING_POWER = 1.66
_FADING = 1.0 / 0.6**_FADING_POWER


@cache
def frost_photographs() -> Photographs | None:
    """Photographs named by the environment, read once a process; None for the drawn textures."""
    folder = os.environ.get("FROST_TEXTURES", "")
    return photographs_in(Path(folder)) if folder else None


def frost_version(version: str) -> str:
    """Version of a function that uses ice, with the digest of the photographs, if there are any."""
    photographs = frost_photographs()
    return version if photographs is None else f"{version}-{photographs.digest}"


def frost(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Look through an icy pane: ice of weight ``parameter`` over a picture that fades.

    Notes
    -----
    Hendrycks and Dietterich (2019), ``frost``: weights of picture and ice of (1, 0.4) at their first level to (0.6,
    0.75) at their fifth. The picture's weight here follows that path, and goes on to 0 where ice weighs 1.
    """
    fading = _FADING * max(0.0, parameter - _FADING_FROM) ** _FADING_POWER
    return mix_with_ice(intensities, 1.0 - fading, parameter, seed)


def mix_with_ice(intensities: Intensities, picture_weight: float, ice_weight: float, seed: int) -> Intensities:
    """Weighted sum of a picture and a seeded cut from one of the textures of ice."""
    pane = _pane((intensities.shape[0], intensities.shape[1]), seed)
    return np.float32(picture_weight) * intensities + np.float32(ice_weight) * pane


@lru_cache(maxsize=1)
def _pane(shape: tuple[int, int], seed: int) -> Field:
    """Cut of a texture, shape (h, w, 3); a texture smaller than the picture goes on mirrored."""
    photographs = frost_photographs()
    rng = np.random.default_rng(seed)
    number = int(rng.integers(TEXTURES if photographs is None else len(photographs)))
    texture = ice_texture(number) if photographs is None else photographs[number]
    rows, columns = (
        _mirrored(int(rng.integers(max(1, side - length + 1))) + np.arange(length), side)
        for length, side in zip(shape, texture.shape[:2], strict=True)
    )
    cut = texture[rows][:, columns]
    return frozen(np.ascontiguousarray(cut[:, ::-1] if rng.random() < 0.5 else cut, dtype=np.float32))


def _mirrored(places: NDArray[np.int64], side: int) -> NDArray[np.int64]:
    around = places % (2 * side)
    return np.asarray(np.minimum(around, 2 * side - 1 - around), dtype=np.int64)


FAMILY: tuple[Corruption, ...] = (
    Corruption(
        name="frost", label="Frost", family="weather", version=frost_version("1"), low=0.001, high=1.0, scale="log",
        unit="weight of the ice", function=frost,
        formula="p x + c ice, picture weight p = 1 up to c = 0.4, then falling through the published levels to 0",
        source="Hendrycks and Dietterich 2019, ImageNet-C",
        departure="Drawn textures of ice instead of five of six photographs, unless FROST_TEXTURES names a folder.",
    ),
)  # fmt: skip
