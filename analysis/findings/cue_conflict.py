"""Shape against texture: answers to pictures that have the shape of one category and the texture of another."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.agreement import shape_bias
from analysis.categories import CATEGORIES
from analysis.findings.model import HUMANS, ShapeBias
from analysis.findings.observations import Observations

#: ``bird3-bird2`` or ``car4-keyboard3`` at the end of a picture's name: shape and texture, each with its number.
_CONFLICT = re.compile(r"(?:^|[^a-z])([a-z]+)\d*-([a-z]+)\d*(?:\.\w+)?$")


def shape_bias_entries(people: Observations, classifiers: Observations, *, level: float) -> list[ShapeBias]:
    """Shape bias of every observer who answered cue-conflict pictures, people first, and of all people together.

    Returns
    -------
    list of ShapeBias
        ``observer``, ``kind``, ``shape``, ``texture``, ``other``, ``bias`` (None without an answer that names shape or
        texture), ``interval`` (of all people: over people and pictures); empty when no picture's name says that it is
        a cue conflict.
    """
    entries = []
    groups: tuple[tuple[Literal["human", "classifier"], Observations], ...] = (
        ("human", people),
        ("classifier", classifiers),
    )
    for kind, group in groups:
        shapes, textures, known = conflicts(group.original)
        rows = group.select(known)
        if not len(rows):
            continue
        names = np.unique(rows.observer).tolist()
        chosen = [(name, rows.observer == name) for name in names]
        if kind == "human":
            chosen.insert(0, (HUMANS, np.ones(len(rows), dtype=np.bool_)))
        for name, mine in chosen:
            found = shape_bias(
                rows.response[mine],
                shapes[known][mine],
                textures[known][mine],
                people=rows.observer[mine],
                pictures=rows.original[mine],
                level=level,
            )
            entries.append(
                ShapeBias(
                    observer=name,
                    kind=kind if name != HUMANS else "humans",
                    shape=found.shape,
                    texture=found.texture,
                    other=found.other,
                    bias=found.bias if found.shape + found.texture else None,
                    interval=found.interval,
                )
            )
    return entries


def conflicts(originals: NDArray[np.str_]) -> tuple[NDArray[np.str_], NDArray[np.str_], NDArray[np.bool_]]:
    """Shape and texture of each picture by its name, and whether they are of two different categories."""
    names, code = np.unique(originals, return_inverse=True)
    pairs = [_parts(str(name)) for name in names]
    shapes = np.array([pair[0] for pair in pairs], dtype=np.str_)
    textures = np.array([pair[1] for pair in pairs], dtype=np.str_)
    known = (shapes != textures) if len(pairs) else np.zeros(0, dtype=np.bool_)
    return shapes[code], textures[code], np.asarray(known, dtype=np.bool_)[code]


def _parts(name: str) -> tuple[str, str]:
    """Shape and texture; two empty texts for any other picture."""
    match = _CONFLICT.search(name)
    if match and match[1] in CATEGORIES and match[2] in CATEGORIES:
        return match[1], match[2]
    return "", ""
