"""Lists of labels in tables of answers: contradictions are refused, and answers right by what is accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.errors import TableRefused
from analysis.labels.lists import ACCEPTED, COMPETING, LISTS, fault_of, ids_in
from analysis.labels.space import LabelSpace

if TYPE_CHECKING:
    import pandas as pd


def text_column(frame: pd.DataFrame, name: str) -> NDArray[np.str_]:
    """Column as text, empty where there is none."""
    if name not in frame.columns:
        return np.full(len(frame), "", dtype=np.str_)
    return np.asarray(frame[name].astype("string").fillna("").tolist(), dtype=np.str_)


def judged(frame: pd.DataFrame) -> pd.DataFrame:
    """Answers by the lists of what is right, and none to pictures without such a list; as they are without any."""
    accepted = text_column(frame, ACCEPTED)
    if not (accepted != "").any():
        return frame
    response = text_column(frame, "response")
    right = [one in ids_in(cell) for one, cell in zip(response.tolist(), accepted.tolist(), strict=True)]
    known: pd.DataFrame = frame.assign(correct=right).loc[accepted != ""]
    return known


def check_lists(frame: pd.DataFrame, space: LabelSpace) -> None:
    """Refuse trials whose lists of labels contradict themselves, the answers, or each other.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`.
    space : LabelSpace

    Raises
    ------
    TableRefused
        Naming the row and the column: a list with something that is no label, one option alone, an answer or a
        category that is not offered, a competing label that is right, a ``correct`` that says otherwise, or two lists
        for one picture.
    """
    if not any((text_column(frame, name) != "").any() for name in LISTS):
        return
    shown = frame.loc[text_column(frame, "task") == "categorisation"]
    cells = {name: text_column(shown, name).tolist() for name in ("category", "response", "original", *LISTS)}
    correct = shown["correct"].astype("boolean").tolist()
    of_picture: dict[tuple[str, str], str] = {}
    for place, row in enumerate(zip(*cells.values(), strict=True)):
        one = dict(zip(cells, row, strict=True))
        found = fault_of(one, space)
        right = ids_in(one[ACCEPTED])
        if found is None and right and correct[place] != (one["response"] in right):
            found = "correct", f"{correct[place]} contradicts {ACCEPTED!r}: {one['response']!r} of {' '.join(right)}."
        for name in (ACCEPTED, COMPETING):
            other = of_picture.setdefault((name, one["original"]), one[name])
            if found is None and other != one[name]:
                found = name, f"{one[name]!r} here and {other!r} elsewhere for the picture {one['original']}."
        if found is not None:
            raise TableRefused(f"trials, row {shown.index[place]}, column {found[0]!r}: {found[1]}")


def with_truth_of(predictions: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """Predictions with the lists that people's trials have for the same pictures, where they have none themselves.

    Parameters
    ----------
    predictions : pandas.DataFrame
        Columns of `analysis.tables.stimuli.PREDICTIONS` or ``LEVEL_PREDICTIONS``.
    trials : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`.

    Returns
    -------
    pandas.DataFrame
        Where people's trials have lists of what is right, predictions on other pictures are left out.
    """
    shown = trials.loc[text_column(trials, "task") == "categorisation"]
    for name in (ACCEPTED, COMPETING):
        cells = text_column(shown, name)
        if (cells == "").all() or (text_column(predictions, name) != "").any():
            continue
        known = dict(zip(text_column(shown, "original").tolist(), cells.tolist(), strict=True))
        predictions = predictions.assign(**{name: [known.get(one, "") for one in text_column(predictions, "original")]})
    return judged(predictions)
