"""Cue conflicts: pictures that have the shape of one label and the texture of another, by a table or by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace

#: What a trial's competing labels are where no table says any: its picture's name may say them.
UNSAID = "?"
#: ``bird3-bird2`` or ``car4-keyboard3`` at the end of a picture's name: shape and texture, each with its number.
_CONFLICT = re.compile(r"(?:^|[^a-z])([a-z]+)\d*-([a-z]+)\d*(?:\.\w+)?$")


#: Shape and texture of each picture, and whether they are of two different labels.
Conflicts = tuple[NDArray[np.str_], NDArray[np.str_], NDArray[np.bool_]]


def stated_conflicts(responses: NDArray[np.str_], right: NDArray[np.str_], competing: NDArray[np.str_]) -> Conflicts:
    """Shape and texture of each picture as a table says.

    Parameters
    ----------
    responses : ndarray of str, shape (n,)
    right, competing : ndarray of str, shape (n,)
        Ids that are right, and that compete with them, separated by blanks; nothing competes in an empty one.

    Returns
    -------
    Conflicts
        Of several ids the one that was answered, or else the first.
    """
    cells = zip(responses.tolist(), right.tolist(), competing.tolist(), strict=True)
    pairs = [tuple(_answered(one, cell.split()) for cell in both) for one, *both in cells]
    shapes, textures = (np.array([pair[place] for pair in pairs], dtype=np.str_) for place in (0, 1))
    return shapes, textures, np.asarray(textures != "", dtype=np.bool_)


def _answered(response: str, ids: Sequence[str]) -> str:
    return response if response in ids else next(iter(ids), "")


def conflicts(originals: NDArray[np.str_], space: LabelSpace | None = None) -> Conflicts:
    """Shape and texture of each picture by its name."""
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
