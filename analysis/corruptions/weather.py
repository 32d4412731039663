"""Weather: frost on the pane.

A new function is one function and one line in `FAMILY`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from analysis.corruptions.fields import Field, frozen
from analysis.corruptions.ice import SIDE_PX, TEXTURES, ice_texture
from analysis.corruptions.registry import Corruption, Intensities

#: The picture's weight falls from 1 along a power of the ice's weight beyond `_FADING_FROM`: through the published
#: levels (0.84, 0.69 and 0.60 for the published 0.8, 0.7 or 0.65, and 0.6), and to 0.05 at the end.
_FADING_FROM = 0.4
_FADING_POWER = 1.605
_FADING = 0.95 / 0.6**_FADING_POWER


def frost(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Look through an icy pane: ice of weight ``parameter`` over a picture that fades.

    Notes
    -----
    Hendrycks and Dietterich (2019), ``frost``: weights of picture and ice of (1, 0.4) at their first level to (0.6,
    0.75) at their fifth. The picture's weight here follows that path, and goes on to 0.05 where ice weighs 1.
    """
    fading = _FADING * max(0.0, parameter - _FADING_FROM) ** _FADING_POWER
    return mix_with_ice(intensities, 1.0 - fading, parameter, seed)


def mix_with_ice(intensities: Intensities, picture_weight: float, ice_weight: float, seed: int) -> Intensities:
    """Weighted sum of a picture and a seeded cut from one of the textures of ice."""
    return np.float32(picture_weight) * intensities + np.float32(ice_weight) * _pane(intensities.shape[:2], seed)


@lru_cache(maxsize=1)
def _pane(shape: tuple[int, int], seed: int) -> Field:
    rng = np.random.default_rng(seed)
    texture = ice_texture(int(rng.integers(TEXTURES)))
    rows = (rng.integers(SIDE_PX) + np.arange(shape[0])) % SIDE_PX
    columns = (rng.integers(SIDE_PX) + np.arange(shape[1])) % SIDE_PX
    return frozen(texture[rows][:, columns].astype(np.float32))


FAMILY: tuple[Corruption, ...] = (
    Corruption(
        name="frost", label="Frost", family="weather", version="1", low=0.0, high=1.0, scale="linear",
        unit="weight of the ice", function=frost,
    ),
)  # fmt: skip
