"""Same/different and ABX trials sorted into the pairs of corruptions that they compare."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from analysis.errors import TableRefused
from analysis.findings.model import Discrimination
from analysis.similarity import DiscriminationTest, discrimination_test, holm, verdict_of
from analysis.spec.design import DiscriminationForm

if TYPE_CHECKING:
    import pandas as pd

#: Tasks in which corruptions are compared, and how.
_FORMS: Mapping[str, DiscriminationForm] = {"discrimination": "same-different", "abx": "abx"}
_COLUMNS = ("participant", "task", "role", "corruption", "second_corruption", "response", "correct", "accepted")


def discrimination_entries(frame: pd.DataFrame, *, margin: float, level: float) -> list[Discrimination]:
    """Test every pair of corruptions that was compared.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of `analysis.tables.TRIALS`; other tasks than discrimination and abx, other roles than main and sessions
        that were not accepted are left out.
    margin, level : float
        As in `discrimination_test`.

    Returns
    -------
    list of Discrimination
        One entry a form and pair, same/different first, by name; tests are corrected by Holm's rule over all.

    Raises
    ------
    TableRefused
        If a column is missing.

    Notes
    -----
    A different pair names its comparison. A same pair belongs to any comparison with its corruption: it goes to the
    one that has the fewest same pairs for its different ones, so that each trial counts once and guessing scores 1/2.
    An ABX trial names its comparison by A and B.
    """
    if "task" not in frame.columns or not frame["task"].isin(list(_FORMS)).any():
        return []
    needed = (*_COLUMNS, "third_corruption") if (frame["task"] == "abx").any() else _COLUMNS
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise TableRefused(f"discrimination trials: column {missing[0]!r} is missing.")
    keep = (frame["role"] == "main") & frame["accepted"].astype("boolean")
    rows = frame.loc[keep.fillna(False).to_numpy(dtype=bool)]
    order = [name for name in ("participant", "session", "position") if name in rows.columns]
    rows = rows.sort_values(order, kind="stable")
    asked = [task for task in _FORMS if (rows["task"] == task).any()]
    results = [found for task in asked for found in _tested(rows[rows["task"] == task], task, margin, level)]
    adjusted = holm([test.p for _, test, _ in results])
    return [_entry(pair, test, p, misses) for (pair, test, misses), p in zip(results, adjusted, strict=True)]


def _tested(
    rows: pd.DataFrame, task: str, margin: float, level: float
) -> list[tuple[tuple[str, str], DiscriminationTest, int]]:
    """Pair, test and missed trials for every comparison of one form."""
    first = rows["corruption"].astype(str).tolist()
    second = rows["second_corruption"].astype(str).tolist()
    correct = rows["correct"].astype("boolean").fillna(False).to_numpy(dtype=bool)
    people = np.asarray(rows["participant"].astype(str).tolist())
    response = np.asarray(rows["response"].astype(str).tolist())
    pairs = _compared(first, second)
    compared_with = rows["third_corruption"].astype(str).tolist() if task == "abx" else second
    same = np.asarray(first) == np.asarray(compared_with)
    results: list[tuple[tuple[str, str], DiscriminationTest, int]] = []
    for pair in sorted({pair for pair in pairs if pair is not None}):
        chosen = np.array([other == pair for other in pairs])
        test = discrimination_test(
            correct[chosen],
            form=_FORMS[task],
            same=same[chosen],
            participants=people[chosen],
            margin=margin,
            level=level,
        )
        results.append((pair, test, int(np.sum(response[chosen] == "na"))))
    return results


def _compared(first: list[str], second: list[str]) -> list[tuple[str, str] | None]:
    """Return the comparison of each trial; None for a same pair whose corruption was compared with nothing."""
    pairs: list[tuple[str, str] | None] = []
    owing: dict[tuple[str, str], int] = {}
    for one, two in zip(first, second, strict=True):
        pair = (min(one, two), max(one, two))
        pairs.append(pair if one != two else None)
        if one != two:
            owing[pair] = owing.get(pair, 0) + 1
    for position, (one, two) in enumerate(zip(first, second, strict=True)):
        if one != two:
            continue
        candidates = sorted(pair for pair in owing if one in pair)
        if candidates:
            chosen = max(candidates, key=lambda pair: owing[pair])
            owing[chosen] -= 1
            pairs[position] = chosen
    return pairs


def _entry(pair: tuple[str, str], test: DiscriminationTest, p_adjusted: float, misses: int) -> Discrimination:
    different = p_adjusted < 0.05
    return Discrimination(
        pair=pair,
        form=test.form,
        trials=test.trials,
        correct=test.correct,
        accuracy=test.accuracy,
        interval=test.interval,
        upper_bound=test.upper_bound,
        p=test.p,
        p_adjusted=p_adjusted,
        margin=test.margin,
        margin_d_prime=test.margin_d_prime,
        equivalent=test.equivalent,
        different=different,
        verdict=verdict_of(equivalent=test.equivalent, different=different),
        design_effect=test.design_effect,
        d_prime=_finite(test.d_prime),
        d_prime_upper=_finite(test.d_prime_upper),
        hit_rate=test.hit_rate,
        false_alarm_rate=test.false_alarm_rate,
        criterion=test.criterion,
        misses=misses,
    )


def _finite(d_prime: float) -> float | None:
    """None where no answer was wrong: the sensitivity has no upper bound then, and JSON no infinity."""
    return d_prime if math.isfinite(d_prime) else None
