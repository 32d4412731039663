"""Trials gathered into bins along an abscissa that is brought to [0, 1]: counts, rates, abscissae."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import FloatArray, IntArray
from analysis.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class ScaledAbscissa:
    """Noise width, contrast or anything else, as places in [0, 1] along which performance falls.

    Parameters
    ----------
    place : ndarray, shape (n,)
        In [0, 1].
    lower, upper : float
        Values at the two ends, before flipping.
    flipped : bool
        Whether performance rose with the value, so that ``upper`` stands at 0.
    """

    place: FloatArray
    lower: float
    upper: float
    flipped: bool


def scale_abscissa(
    values: ArrayLike, correct: ArrayLike, *, lower: float | None = None, upper: float | None = None
) -> ScaledAbscissa:
    """Bring an abscissa to [0, 1], flipped if performance rises along it.

    Parameters
    ----------
    values : array-like, shape (n,)
        Finite numbers, one a trial.
    correct : array-like, shape (n,)
        Outcomes in [0, 1]: the sign of their covariance with the values gives the direction.
    lower, upper : float, optional
        Values at the ends; by default the smallest and largest.

    Returns
    -------
    ScaledAbscissa

    Raises
    ------
    InvalidInput
        If the values are not finite, all equal, or outside the ends.

    Notes
    -----
    An area over such an axis is an area, not a VCR robustness.
    """
    numbers, outcome = np.asarray(values, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    if numbers.ndim != 1 or numbers.shape != outcome.shape or not len(numbers) or not np.isfinite(numbers).all():
        raise InvalidInput("An abscissa is one finite number a trial.")
    low = float(numbers.min()) if lower is None else float(lower)
    high = float(numbers.max()) if upper is None else float(upper)
    if not low < high or numbers.min() < low or numbers.max() > high:
        raise InvalidInput(
            f"Values from {numbers.min():g} to {numbers.max():g} do not lie between {low:g} and {high:g}."
        )
    place = np.clip((numbers - low) / (high - low), 0.0, 1.0)
    flipped = bool(np.sum((numbers - numbers.mean()) * outcome) > 0.0)
    return ScaledAbscissa(1.0 - place if flipped else place, low, high, flipped)


#: How [0, 1] is cut: M equal bins ``[j / M, (j + 1) / M)``, the last closed; the papers' ``j = floor(v (M - 1))``, of
#: which only v = 1 reaches the last; or the authors' program, whose bins hold neither of their edges.
BinRule = Literal["equal", "paper", "open"]
#: Bins with fewer answers are marked as thin.
THIN_BELOW = 20


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
class Binning:
    """A way of cutting the axis into bins."""

    n_bins: int = 40
    rule: BinRule = "equal"

    def index(self, visual_change: ArrayLike) -> IntArray:
        """Bin of every visual change, shape (n,); -1 where it lies in none (only the rule "open" has such)."""
        equal = bin_index(visual_change, self.n_bins)
        values = np.asarray(visual_change, dtype=np.float64)
        if self.rule == "paper":
            return np.floor(values * (self.n_bins - 1)).astype(np.int64)
        if self.rule == "open":
            inside = (values > equal / self.n_bins) & (values < (equal + 1) / self.n_bins)
            return np.where(inside, equal, -1)
        return equal

    def edges(self, index: int) -> tuple[float, float]:
        """Ends of a bin, within [0, 1]."""
        number = self.n_bins - 1 if self.rule == "paper" else self.n_bins
        return index / number, min((index + 1) / number, 1.0)


@dataclass(frozen=True)
class Bin:
    """One occupied bin of visual change."""

    #: Position of the bin among all bins, from 0.
    index: int
    #: Mean visual change of its trials.
    v: float
    #: Number of trials.
    n: int
    #: Sum of the outcomes (a count for right and wrong, fractional for agreement); of weighted ones, number times mean.
    correct: float
    #: Number of different originals; None when originals are unknown.
    originals: int | None

    @property
    def rate(self) -> float:
        """Share of correct (or agreeing) answers."""
        return self.correct / self.n

    @property
    def is_thin(self) -> bool:
        """Whether it holds fewer than 20 answers."""
        return self.n < THIN_BELOW

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
    visual_change: FloatArray,
    correct: FloatArray,
    *,
    images: IntArray | None = None,
    weights: FloatArray | None = None,
    n_bins: int = 40,
    rule: BinRule = "equal",
    smallest: int = 1,
) -> tuple[Bin, ...]:
    """Gather trials into bins, in rising order; bins with fewer trials than ``smallest`` are left out.

    Parameters
    ----------
    visual_change : ndarray, shape (n,)
        In [0, 1].
    correct : ndarray, shape (n,)
        Outcomes in [0, 1].
    images : ndarray of int, shape (n,), optional
        Codes of originals.
    weights : ndarray, shape (n,), optional
        Rate and place of a bin are weighted means then.
    n_bins : int
        Number of bins of [0, 1].
    rule : {"equal", "paper", "open"}
    smallest : int
        Trials that a bin needs, at least 1.

    Returns
    -------
    tuple of Bin

    Notes
    -----
    Differs from VCR's program, which enters the left edge of a bin and a rate of 0 where a bin is empty.
    """
    index = Binning(n_bins, rule).index(visual_change)
    kept = index >= 0
    count = np.bincount(index[kept], minlength=n_bins)
    right = np.bincount(index[kept], weights=correct[kept], minlength=n_bins).astype(np.float64)
    place = np.bincount(index[kept], weights=visual_change[kept], minlength=n_bins).astype(np.float64)
    if weights is not None:
        # Number times weighted mean: a bin keeps its number of answers.
        scale = count / np.maximum(np.bincount(index[kept], weights=weights[kept], minlength=n_bins), 1e-300)
        right = scale * np.bincount(index[kept], weights=(weights * correct)[kept], minlength=n_bins)
        place = scale * np.bincount(index[kept], weights=(weights * visual_change)[kept], minlength=n_bins)
    originals: list[int | None] = [None] * n_bins
    if images is not None and kept.any():
        pairs = np.unique(np.stack([index[kept], images[kept]], axis=1), axis=0)
        originals = [int(number) for number in np.bincount(pairs[:, 0], minlength=n_bins)]
    return tuple(
        Bin(int(j), float(min(max(place[j] / count[j], 0.0), 1.0)), int(count[j]), float(right[j]), originals[j])
        for j in np.flatnonzero(count >= max(smallest, 1))
    )
