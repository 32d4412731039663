"""The order of the 16 categories on the answer grid."""

from __future__ import annotations

import hashlib

import numpy as np

from analysis.categories import RESPONSE_GRID


def shuffled_grid(family: str, participant: str) -> tuple[str, ...]:
    """An order of one participant's own, row by row: the same in all their sessions of a study family.

    Parameters
    ----------
    family : str
        Name of the study family.
    participant : str
        Code of the participant.

    Returns
    -------
    tuple of str
        The categories of ``analysis.categories.RESPONSE_GRID`` in an order that follows from both names alone.
    """
    digest = hashlib.sha256(f"grid order\n{family}\n{participant}".encode()).digest()
    order = np.random.default_rng(int.from_bytes(digest[:16], "big")).permutation(len(RESPONSE_GRID))
    return tuple(RESPONSE_GRID[int(place)] for place in order)
