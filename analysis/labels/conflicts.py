"""Cue conflicts: pictures that have the shape of one label and the texture of another, told by their names."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace

#: ``bird3-bird2`` or ``car4-keyboard3`` at the end of a picture's name: shape and texture, each with its number.
_CONFLICT = re.compile(r"(?:^|[^a-z])([a-z]+)\d*-([a-z]+)\d*(?:\.\w+)?$")


def conflicts(
    originals: NDArray[np.str_], space: LabelSpace | None = None
) -> tuple[NDArray[np.str_], NDArray[np.str_], NDArray[np.bool_]]:
    """Shape and texture of each picture by its name, and whether they are of two different labels."""
    space = space or default_labels()
    names, code = np.unique(originals, return_inverse=True)
    pairs = [_parts(str(name), space) for name in names]
    shapes = np.array([pair[0] for pair in pairs], dtype=np.str_)
    textures = np.array([pair[1] for pair in pairs], dtype=np.str_)
    known = (shapes != textures) if len(pairs) else np.zeros(0, dtype=np.bool_)
    return shapes[code], textures[code], np.asarray(known, dtype=np.bool_)[code]


def _parts(name: str, space: LabelSpace) -> tuple[str, str]:
    """Shape and texture; two empty texts for any other picture."""
    match = _CONFLICT.search(name)
    if match and match[1] in space and match[2] in space:
        return match[1], match[2]
    return "", ""
