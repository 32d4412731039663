"""Weather: frost on the pane.

A new function is one function and one line in `FAMILY`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from analysis.corruptions.fields import Field, frozen
from analysis.corruptions.ice import SIDE_PX, TEXTURES, ice_texture
from analysis.corruptions.registry import Corruption, Intensities


def frost(intensities: Intensities, parameter: float, seed: int) -> Intensities:
    """Mix the picture with ice of weight ``parameter``."""
    picture_share = 1.0 - 2.157 * max(0.0, parameter - 0.4) ** 1.605
    ice = _pane(intensities.shape[:2], seed)
    return np.float32(picture_share) * intensities + np.float32(parameter) * ice


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
