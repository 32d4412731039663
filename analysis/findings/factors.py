"""Accuracy by a factor of pictures: a background, a texture, a material, or any other named column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.agreement.shape_bias import share_of
from analysis.errors import TableRefused
from analysis.findings.lists import text_column
from analysis.findings.model.agreement import FactorAccuracy
from analysis.findings.model.entry import HUMANS
from analysis.findings.observations import Observations

if TYPE_CHECKING:
    import pandas as pd


def factor_entries(
    trials: pd.DataFrame, people: Observations, classifiers: Observations, factors: Sequence[str], *, level: float
) -> list[FactorAccuracy]:
    """Accuracy of people together, and of every classifier, on the pictures of each value of each factor.

    Parameters
    ----------
    trials : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`, and a column of text for each factor.
    people, classifiers : Observations
        Classifiers are scored on pictures whose factors are known, which are those that people saw.
    factors : sequence of str
    level : float
        Of the intervals, in (0, 1).

    Returns
    -------
    list of FactorAccuracy
        By factor, value, and observer, people first.

    Raises
    ------
    TableRefused
        If a factor is no column, is a column of every table of trials, is empty everywhere, or has two values for one
        picture.

    Notes
    -----
    The share of all answers, also where people gave unequally many. The interval is that of shape bias (Korn and
    Graubard 1998 over people and pictures), whose simulations hold for any share of answers (docs/claims.md).
    """
    return accuracy_by_value({factor: _values(trials, factor) for factor in factors}, people, classifiers, level=level)


def accuracy_by_value(
    factors: Mapping[str, Mapping[str, str]], people: Observations, classifiers: Observations, *, level: float
) -> list[FactorAccuracy]:
    """The same where the value of each original is known by factor.

    Parameters
    ----------
    factors : mapping of factor to mapping of original to value
    people, classifiers : Observations
    level : float
        Of the intervals, in (0, 1).
    """
    groups: list[tuple[str, Literal["humans", "classifier"], Observations]] = []
    if len(people):
        groups.append((HUMANS, "humans", people))
    for name in np.unique(classifiers.observer).tolist():
        groups.append((name, "classifier", classifiers.select(classifiers.observer == name)))
    return [
        _entry(factor, value, name, kind, rows.select(mine), level)
        for factor, known in factors.items()
        for value in sorted(set(known.values()))
        for name, kind, rows in groups
        for mine in (_of_value(rows, known, value),)
        if mine.any()
    ]


#: A factor with more values names pictures rather than groups of them.
MOST_VALUES = 50


def with_factors(trials: pd.DataFrame, table: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...], tuple[str, ...]]:
    """Trials with a column for each factor of their pictures.

    Parameters
    ----------
    trials : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`.
    table : pandas.DataFrame
        Columns of `analysis.tables.stimuli.FACTORS`.

    Returns
    -------
    trials : pandas.DataFrame
    factors : tuple of str
        Those of which these pictures have at most `MOST_VALUES` values.
    notes : tuple of str
        What is left out.

    Raises
    ------
    TableRefused
        If a factor has the name of a column of trials.
    """
    table = table[table["original"].isin(set(trials["original"])) & (table["value"] != "")]
    names = tuple(sorted(set(table["factor"])))
    taken = [name for name in names if name in trials.columns]
    if taken:
        raise TableRefused(f"factors: {taken[0]!r} is a column of trials already; give the factor another name.")
    columns, few, notes = {}, [], []
    for name in names:
        rows = table[table["factor"] == name]
        known = dict(zip(rows["original"], rows["value"], strict=True))
        columns[name] = trials["original"].map(known).astype("string").fillna("")
        n_values = rows["value"].nunique()
        if n_values <= MOST_VALUES:
            few.append(name)
        else:
            notes.append(f"No accuracy by {name}: its {n_values} values are more than {MOST_VALUES}.")
    return trials.assign(**columns), tuple(few), tuple(notes)


def _values(trials: pd.DataFrame, factor: str) -> dict[str, str]:
    """The value of each picture; a picture without one is left out."""
    from analysis.tables.trials import TRIALS

    if factor not in trials.columns or factor in TRIALS.names:
        own = [str(name) for name in trials.columns if name not in TRIALS.names]
        raise TableRefused(f"trials: there is no factor {factor!r}; further columns are: {', '.join(own) or 'none'}.")
    known: dict[str, str] = {}
    for original, value in zip(text_column(trials, "original"), text_column(trials, factor), strict=True):
        if known.setdefault(str(original), str(value)) != value:
            raise TableRefused(
                f"trials, column {factor!r}: the picture {original} has two values, {known[str(original)]!r} and "
                f"{str(value)!r}. A factor is a matter of the picture."
            )
    known = {original: value for original, value in known.items() if value}
    if not known:
        raise TableRefused(f"trials, column {factor!r}: no picture has a value.")
    return known


def _of_value(rows: Observations, known: Mapping[str, str], value: str) -> NDArray[np.bool_]:
    return np.array([known.get(one) == value for one in rows.original.tolist()], dtype=np.bool_)


def _entry(
    factor: str, value: str, name: str, kind: Literal["humans", "classifier"], rows: Observations, level: float
) -> FactorAccuracy:
    accuracy, interval = share_of(rows.correct == 1.0, people=rows.observer, pictures=rows.original, level=level)
    return FactorAccuracy(
        factor=factor,
        value=value,
        observer=name,
        kind=kind,
        n=len(rows),
        pictures=len(np.unique(rows.original)),
        accuracy=accuracy,
        interval=interval,
    )
