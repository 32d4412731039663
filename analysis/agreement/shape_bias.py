"""Cue conflict: do answers follow the shape of a picture or its texture?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.errors import InvalidInput
from analysis.proportions import exact_bound


@dataclass(frozen=True)
class ShapeBias:
    """Answers to pictures of one category's shape and another's texture.

    Parameters
    ----------
    shape, texture, other : int
        Answers that name the shape, the texture, or neither.
    bias : float
        shape / (shape + texture); NaN without either.
    interval : tuple of float
        Exact binomial (Clopper-Pearson) interval of the bias; (0, 1) without either.
    """

    shape: int
    texture: int
    other: int
    bias: float
    interval: tuple[float, float]


def shape_bias(responses: ArrayLike, shapes: ArrayLike, textures: ArrayLike, *, level: float = 0.95) -> ShapeBias:
    """Decide whether answers follow the shape or the texture.

    Parameters
    ----------
    responses, shapes, textures : array-like of str, shape (n,)
        Pictures whose shape and texture are of one category are left out.
    level : float
        Level of the interval.

    Returns
    -------
    ShapeBias

    Raises
    ------
    InvalidInput
        If the columns differ in length.

    Notes
    -----
    Geirhos et al. (2019), section 2: the share of shape among answers that name shape or texture.
    """
    given, form, surface = (np.asarray(column, dtype=np.str_) for column in (responses, shapes, textures))
    if not given.shape == form.shape == surface.shape or given.ndim != 1:
        raise InvalidInput("Responses, shapes and textures have one entry an answer.")
    conflict = form != surface
    by_shape = int(np.sum(conflict & (given == form)))
    by_texture = int(np.sum(conflict & (given == surface)))
    total = by_shape + by_texture
    return ShapeBias(
        by_shape,
        by_texture,
        int(conflict.sum()) - total,
        by_shape / total if total else float("nan"),
        exact_bound(by_shape, total, (1.0 - level) / 2.0),
    )
