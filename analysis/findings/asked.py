"""What became of the trials of models that are asked in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.arrays import IntArray
from analysis.findings.model import AskedAtChange, AskedCounts, AskedObserver
from analysis.findings.observations import CLEAN

if TYPE_CHECKING:
    import pandas as pd

_BINS = 10
_CLEAN, _NOT_MEASURED = -1, _BINS


def asked_entries(answers: pd.DataFrame) -> tuple[AskedObserver, ...]:
    """Count answers by what they are.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns of `analysis.tables.ANSWERS`, the first question about each stimulus before the others.
    """
    entries = []
    for name, rows in answers.groupby("classifier", sort=True):
        first = rows.drop_duplicates("stimulus")
        place = _bins(first)
        entries.append(
            AskedObserver(
                observer=str(name),
                trials=_counts(first),
                questions=_counts(rows),
                by_change=tuple(_at_change(int(one), first[place == one]) for one in np.unique(place)),
            )
        )
    return tuple(entries)


def _bins(rows: pd.DataFrame) -> IntArray:
    change = rows["visual_change"].to_numpy(dtype=np.float64, na_value=np.nan)
    bins: IntArray = np.minimum((np.nan_to_num(change) * _BINS).astype(np.int64), _BINS - 1)
    bins[np.isnan(change)] = _NOT_MEASURED
    bins[(rows["corruption"] == CLEAN).to_numpy(dtype=np.bool_)] = _CLEAN
    return bins


def _at_change(place: int, rows: pd.DataFrame) -> AskedAtChange:
    low, high = place / _BINS, (place + 1) / _BINS
    if place == _CLEAN:
        low = high = 0.0
    if place == _NOT_MEASURED:
        return AskedAtChange(low=None, high=None, trials=_counts(rows))
    return AskedAtChange(low=low, high=high, trials=_counts(rows))


def _counts(rows: pd.DataFrame) -> AskedCounts:
    kinds = rows["kind"].value_counts()
    answered, refused, unreadable, missed = (
        int(kinds.get(kind, 0)) for kind in ("label", "refusal", "unreadable", "miss")
    )
    return AskedCounts(asked=len(rows), answered=answered, refused=refused, unreadable=unreadable, missed=missed)
