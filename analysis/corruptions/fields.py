"""Random fields, one a stream: the same at every strength, so that the parameter alone scales the damage.

A search for a strength asks for the same field again and again, so the latest ones are kept; their number is bounded.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Field = NDArray[np.float32]

_KEPT = 2


@lru_cache(maxsize=_KEPT)
def normal_field(shape: tuple[int, ...], seed: int) -> Field:
    """Standard normal draws, read-only, float32 of the given shape."""
    return frozen(np.random.default_rng(seed).standard_normal(shape, dtype=np.float32))


@lru_cache(maxsize=_KEPT)
def uniform_field(shape: tuple[int, ...], seed: int) -> Field:
    """Uniform draws from [-1, 1), read-only, float32 of the given shape."""
    field = np.random.default_rng(seed).random(shape, dtype=np.float32)
    field *= 2.0
    field -= 1.0
    return frozen(field)


def frozen(field: Field) -> Field:
    """The same array, which nobody can change any more."""
    field.flags.writeable = False
    return field
