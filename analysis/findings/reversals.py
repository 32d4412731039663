"""Pairs of classifiers whose order at fixed levels is the reverse of that over visual change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray, IntArray
from analysis.differences.reversals import Ahead, ahead
from analysis.findings.model.checks import Reversal, Swap
from analysis.findings.observations import CLEAN
from analysis.similarity.verdicts import holm

if TYPE_CHECKING:
    import pandas as pd

#: Bins of visual change whose means count equally: wide enough for few pictures.
BINS = 20
#: Levels of a function.
_LEVELS = 6


def reversal_entries(
    swaps: Mapping[str | None, Sequence[Swap]],
    functions: Sequence[str],
    names: Sequence[str],
    levels: pd.DataFrame,
    predictions: pd.DataFrame,
    *,
    properties: int,
    level: float,
) -> tuple[Reversal, ...]:
    """Ask of every pair whose ranks are reversed whether pictures leave that open.

    Parameters
    ----------
    swaps : mapping of function, or None for all of them, to the pairs that are reversed by their numbers
    functions, names : sequence of str
        Functions and classifiers that are ranked.
    levels, predictions : pandas.DataFrame
        Columns of `analysis.tables.stimuli.LEVEL_PREDICTIONS` and `PREDICTIONS`.
    properties : int
        How many are ranked beside the levels.
    level : float
        Of the intervals, and 1 minus the chance that any order is falsely said to be reversed.

    Returns
    -------
    tuple of Reversal
        Over all functions first, then function by function.

    Notes
    -----
    An order is reversed where one classifier is ahead at the levels and the other over visual change: both are tested
    one-sided, and the larger p-value is that of the reversal (intersection-union, Berger 1982), corrected by Holm over
    all pairs, functions and properties, reversed or not. Over visual change the means of bins count equally, from the
    answers themselves; on few pictures that mean and the area under the fitted curve may disagree, and then nothing is
    shown. VCR (Shen et al., section 4.1) names such pairs without a test.
    """
    asked = (len(functions) + 1) * (len(names) * (len(names) - 1) // 2) * properties
    fixed = _Pictures(levels, levels["level"].to_numpy(dtype=np.int64), functions, _LEVELS)
    bins = np.minimum((predictions["visual_change"].to_numpy(dtype=np.float64) * BINS), BINS - 1)
    over = _Pictures(predictions, np.nan_to_num(bins).astype(np.int64), functions, BINS)
    found = [
        (function, swap, one, other)
        for function, own in swaps.items()
        for swap in own
        for one in (fixed.ahead(swap.ahead_at_levels, swap.ahead_by_area, function, "accuracy", level),)
        for other in (over.ahead(swap.ahead_by_area, swap.ahead_at_levels, function, swap.property, level),)
        if one is not None and other is not None
    ]
    p = [max(one.p, other.p) for *_, one, other in found]
    corrected = holm([*p, *[1.0] * (asked - len(p))])[: len(p)]
    return tuple(
        Reversal(
            corruption=function,
            property=swap.property,
            ahead_at_levels=swap.ahead_at_levels,
            ahead_by_area=swap.ahead_by_area,
            at_levels=one.difference,
            at_levels_interval=one.interval,
            over_change=other.difference,
            over_change_interval=other.interval,
            p=chance,
            is_shown=chance < 1.0 - level,
        )
        for (function, swap, one, other), chance in zip(found, corrected, strict=True)
    )


class _Pictures:
    """Outcomes of classifiers on the pictures of a set, in cells of every function."""

    def __init__(self, frame: pd.DataFrame, cells: IntArray, functions: Sequence[str], n_cells: int) -> None:
        self._n_cells, self._functions = n_cells, list(functions)
        place = {name: number for number, name in enumerate(functions)}
        is_in = frame["corruption"].isin(place).to_numpy()
        number = frame.loc[is_in, "corruption"].map(place).to_numpy(dtype=np.int64)
        kept = frame[is_in]
        self._cells = dict(zip(kept["stimulus"], number * n_cells + cells[is_in], strict=True))
        originals = {name: code for code, name in enumerate(sorted(set(kept["original"])))}
        self._originals = dict(zip(kept["stimulus"], kept["original"].map(originals), strict=True))
        self._outcomes = {
            "accuracy": kept.assign(outcome=kept["correct"].astype("boolean").astype("float64")),
            "consistency": _consistent(frame, kept),
        }
        self._known: dict[tuple[str, str], tuple[NDArray[np.str_], FloatArray]] = {}

    def _of(self, name: str, measure: str) -> tuple[NDArray[np.str_], FloatArray]:
        """Pictures of one classifier and their outcomes; pictures without an outcome are left out."""
        if (name, measure) not in self._known:
            frame = self._outcomes[measure]
            own = frame[(frame["classifier"] == name) & frame["outcome"].notna()]
            self._known[name, measure] = (
                own["stimulus"].to_numpy(dtype=np.str_),
                own["outcome"].to_numpy(dtype=np.float64),
            )
        return self._known[name, measure]

    def ahead(self, first: str, second: str, function: str | None, measure: str, level: float) -> Ahead | None:
        """The first classifier against the second; None where they have no picture in common."""
        (names, one), (others, other) = self._of(first, measure), self._of(second, measure)
        both, left, right = np.intersect1d(names, others, return_indices=True)
        cells: IntArray = np.array([self._cells[name] for name in both.tolist()], dtype=np.int64)
        chosen: NDArray[np.bool_] = np.ones(len(cells), dtype=np.bool_)
        if function is not None:
            chosen = cells // self._n_cells == self._functions.index(function)
        if not chosen.any():
            return None
        originals = np.array([self._originals[name] for name in both.tolist()], dtype=np.int64)[chosen]
        return ahead(
            one[left][chosen],
            other[right][chosen],
            cells[chosen],
            np.unique(originals, return_inverse=True)[1],
            shares=self._shares(cells[chosen]),
            level=level,
        )

    def _shares(self, cells: IntArray) -> FloatArray:
        """Cells of a function count equally, and functions as well."""
        filled = np.bincount(cells, minlength=len(self._functions) * self._n_cells) > 0
        per_function = filled.reshape(-1, self._n_cells).sum(axis=1)
        return np.asarray(filled / np.repeat(np.maximum(per_function, 1), self._n_cells))


def _consistent(frame: pd.DataFrame, kept: pd.DataFrame) -> pd.DataFrame:
    """Whether each answer is that to the clean original; unknown where there is none."""
    clean = frame.loc[frame["corruption"] == CLEAN, ["classifier", "original", "response"]]
    joined = kept.merge(
        clean.drop_duplicates(["classifier", "original"]),
        on=["classifier", "original"],
        how="left",
        suffixes=("", "_0"),
    )
    same = (joined["response"] == joined["response_0"]).astype("float64")
    return joined.assign(outcome=same.where(joined["response_0"].notna()))
