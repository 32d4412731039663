"""Trials gathered into bins of visual change: counts, rates, abscissae."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import InvalidInput

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def bin_index(visual_change: ArrayLike, n_bins: int = 40) -> IntArray:
    """Bin of every visual change: ``[j / M, (j + 1) / M)``, the last bin closed.

    Parameters
    ----------
    visual_change : array-like, shape (n,)
        In [0, 1].
    n_bins : int
        M.

    Returns
    -------
    ndarray of int, shape (n,)
        In 0 ... M - 1.

    Raises
    ------
    InvalidInput
        If a value is not a number in [0, 1].
    """
    values = np.asarray(visual_change, dtype=np.float64)
    if n_bins < 1:
        raise InvalidInput(f"{n_bins} bins were asked for; at least 1 is needed.")
    if values.size and not (np.all(np.isfinite(values)) and values.min() >= 0.0 and values.max() <= 1.0):
        position = int(np.argmax(~(np.isfinite(values) & (values >= 0.0) & (values <= 1.0))))
        raise InvalidInput(f"Visual change must lie in [0, 1]; entry {position} is {values[position]!r}.")
    return np.minimum(np.floor(values * n_bins).astype(np.int64), n_bins - 1)


@dataclass(frozen=True)
class Bin:
    """One occupied bin of visual change."""

    #: Position of the bin among all bins, from 0.
    index: int
    #: Mean visual change of its trials.
    v: float
    #: Number of trials.
    n: int
    #: Sum of the outcomes (a count for right and wrong, fractional for agreement).
    correct: float
    #: Number of different originals; None when originals are unknown.
    originals: int | None

    @property
    def rate(self) -> float:
        """Share of correct (or agreeing) answers."""
        return self.correct / self.n

    def to_dict(self) -> dict[str, Any]:
        """Plain values, floats unrounded."""
        return {
            "index": self.index,
            "v": self.v,
            "n": self.n,
            "rate": self.rate,
            "correct": self.correct,
            "originals": self.originals,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Bin:
        """Undo `to_dict`."""
        return cls(
            index=int(values["index"]),
            v=float(values["v"]),
            n=int(values["n"]),
            correct=float(values["correct"]),
            originals=None if values["originals"] is None else int(values["originals"]),
        )


def bin_trials(
    visual_change: FloatArray, correct: FloatArray, *, images: IntArray | None = None, n_bins: int = 40
) -> tuple[Bin, ...]:
    """Gather trials into the occupied bins, in rising order; empty bins are left out.

    Parameters
    ----------
    visual_change : ndarray, shape (n,)
        In [0, 1].
    correct : ndarray, shape (n,)
        Outcomes in [0, 1].
    images : ndarray of int, shape (n,), optional
        Codes of originals.
    n_bins : int
        Number of equal bins of [0, 1].

    Returns
    -------
    tuple of Bin

    Notes
    -----
    Differs from VCR's program, which enters the left edge of a bin and a rate of 0 where a bin is empty.
    """
    index = bin_index(visual_change, n_bins)
    count = np.bincount(index, minlength=n_bins)
    right = np.bincount(index, weights=correct, minlength=n_bins)
    place = np.bincount(index, weights=visual_change, minlength=n_bins)
    originals: list[int | None] = [None] * n_bins
    if images is not None and len(images):
        pairs = np.unique(np.stack([index, images], axis=1), axis=0)
        originals = [int(number) for number in np.bincount(pairs[:, 0], minlength=n_bins)]
    return tuple(
        Bin(int(j), float(min(max(place[j] / count[j], 0.0), 1.0)), int(count[j]), float(right[j]), originals[j])
        for j in np.flatnonzero(count)
    )
