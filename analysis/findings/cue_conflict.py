"""Shape against texture: answers to pictures that have the shape of one category and the texture of another."""

from __future__ import annotations

from typing import Literal

import numpy as np

from analysis.agreement import shape_bias
from analysis.cue_conflicts import conflicts
from analysis.findings.model import HUMANS, ShapeBias
from analysis.findings.observations import Observations


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
