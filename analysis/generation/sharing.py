"""Which original takes which target: all in turn, and nobody a target that it cannot reach if another can."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def share_out(targets: NDArray[np.float64], n_originals: int, first: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Share rising targets out, from the highest down.

    Parameters
    ----------
    targets : ndarray of float64, shape (count,)
        Rising.
    n_originals : int
    first : int
        Original that has the first turn.

    Returns
    -------
    takers : ndarray of int, shape (count,)
        Original of each target.
    draws : ndarray of int, shape (count,)
        Number of the random field among those of that original.
    """
    turn = np.arange(len(targets))[::-1]
    return (first + turn) % n_originals, turn // n_originals
