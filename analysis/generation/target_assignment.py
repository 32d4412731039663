"""Which original takes which target: all in turn, and nobody a target that it cannot reach if another can."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Places = NDArray[np.int64]


def share_out(
    needs: NDArray[np.float64], n_originals: int, first: int, reaches: NDArray[np.float64] | None = None
) -> tuple[_Places, _Places]:
    """Share rising targets out, from the highest down.

    A target goes to the original that has the fewest so far among those that reach it, and among equals to the next in
    turn. Where everybody reaches everything that is everybody in turn.

    Parameters
    ----------
    needs : ndarray of float64, shape (count,)
        Visual change that the taker of each target must reach, rising.
    n_originals : int
    first : int
        Original that has the first turn.
    reaches : ndarray of float64, shape (n_originals,), optional
        Largest visual change of each original; left out, everybody reaches everything.

    Returns
    -------
    takers : ndarray of int, shape (count,)
        Original of each target.
    draws : ndarray of int, shape (count,)
        How many higher targets that original has: the number of its random field.
    """
    count = len(needs)
    takers, draws = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    turn = (np.arange(n_originals) - first) % n_originals
    used = np.zeros(n_originals, dtype=np.int64)
    hard = 0
    if reaches is not None:
        hard = count - int(np.searchsorted(needs, reaches.min(), side="right"))
        takers[count - hard :], draws[count - hard :] = _share_hard(needs[count - hard :], reaches, turn)
        used += np.bincount(takers[count - hard :], minlength=n_originals)
    easy = _least_used_first(used, turn, count - hard)
    takers[: count - hard], draws[: count - hard] = (column[::-1] for column in easy)
    return takers, draws


def _share_hard(needs: NDArray[np.float64], reaches: NDArray[np.float64], turn: _Places) -> tuple[_Places, _Places]:
    """Targets that not every original reaches."""
    takers, draws = np.empty(len(needs), dtype=np.int64), np.empty(len(needs), dtype=np.int64)
    by_reach = np.lexsort((turn, -reaches)).tolist()
    able: list[tuple[int, int, int]] = []  # targets taken, turn, original
    admitted = 0
    for place in range(len(needs) - 1, -1, -1):
        need = needs[place]
        # Where nobody reaches the target, the one who comes nearest tries.
        while admitted < len(by_reach) and (reaches[by_reach[admitted]] >= need or not able):
            original = by_reach[admitted]
            heapq.heappush(able, (0, int(turn[original]), original))
            admitted += 1
        taken, own_turn, original = able[0]
        takers[place], draws[place] = original, taken
        heapq.heapreplace(able, (taken + 1, own_turn, original))
    return takers, draws


def _least_used_first(used: _Places, turn: _Places, count: int) -> tuple[_Places, _Places]:
    """The next ``count`` takers, each time one with the fewest targets so far, in turn."""
    takers: list[NDArray[Any]] = []
    draws: list[NDArray[Any]] = []
    in_turn = np.argsort(turn)
    level, left = int(used.min()), count
    while left > 0:
        ready = in_turn[used[in_turn] <= level][:left]
        takers.append(ready)
        draws.append(np.full(len(ready), level))
        level, left = level + 1, left - len(ready)
    if not takers:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    return np.concatenate(takers), np.concatenate(draws)
