"""Pictures that people name and a model does not, and the reverse: which, how many, and how many chance would give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import InvalidInput

#: Answers of people that a picture needs to be counted.
ENOUGH_ANSWERS = 3
#: People name a picture where at least so many of their answers are right, and do not where at most the rest are.
NAMED = 0.75


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Pictures on which people and a model differ.

    Attributes
    ----------
    people_alone, model_alone : ndarray of int
        Places of the pictures that people name and the model does not, and the reverse; the clearest first.
    expected_people_alone, expected_model_alone : float
        How many there would be on average if the model's errors fell on any pictures of their condition alike.
    pictures : int
        That were counted.
    """

    people_alone: NDArray[np.intp]
    model_alone: NDArray[np.intp]
    expected_people_alone: float
    expected_model_alone: float
    pictures: int


def contrasts(right: ArrayLike, answers: ArrayLike, model_right: ArrayLike, conditions: ArrayLike) -> Contrasts:
    """Select pictures by the answers to them.

    Parameters
    ----------
    right, answers : array-like of int, shape (n,)
        People's right answers to each picture, and all their answers.
    model_right : array-like of bool, shape (n,)
    conditions : array-like, shape (n,)
        Condition of each picture: independence is within it.

    Returns
    -------
    Contrasts
        Pictures with fewer than `ENOUGH_ANSWERS` answers of people do not count. The clearest are those with the
        largest (or smallest) share of people's right answers, then those with the most answers.

    Raises
    ------
    InvalidInput
        If the columns differ in length, or a picture has more right answers than answers.

    Notes
    -----
    The pictures are selected by the answers to them, so a new sample of people would name somewhat fewer of the first
    kind and more of the second. The expected numbers say how many of either kind say nothing about model and people
    together: of the pictures of a condition that people name, the share that the model misses in that condition.
    """
    hits, total = np.asarray(right, dtype=np.int64), np.asarray(answers, dtype=np.int64)
    model = np.asarray(model_right, dtype=np.bool_)
    groups = np.unique(np.asarray(conditions), return_inverse=True)[1] if len(hits) else np.empty(0, dtype=np.int64)
    if any(one.shape != hits.shape or one.ndim != 1 for one in (total, model, groups)):
        raise InvalidInput("Each column has one entry a picture.")
    if np.any(hits > total) or np.any(hits < 0):
        raise InvalidInput("A picture has at most as many right answers as answers.")
    counted = total >= ENOUGH_ANSWERS
    share = np.divide(hits, total, out=np.full(len(hits), np.nan), where=total > 0)
    named, missed = counted & (share >= NAMED), counted & (share <= 1.0 - NAMED)
    ease = _by_group(model, groups, counted)
    return Contrasts(
        people_alone=_clearest(np.flatnonzero(named & ~model), -share, total),
        model_alone=_clearest(np.flatnonzero(missed & model), share, total),
        expected_people_alone=float((1.0 - ease[named]).sum()),
        expected_model_alone=float(ease[missed].sum()),
        pictures=int(counted.sum()),
    )


def _by_group(model: NDArray[np.bool_], groups: NDArray[np.int64], counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Share of counted pictures of a picture's condition that the model names."""
    number = int(groups.max(initial=-1)) + 1
    sizes = np.bincount(groups[counted], minlength=number)
    hits = np.bincount(groups[counted], weights=model[counted].astype(np.float64), minlength=number)
    return np.divide(hits, sizes, out=np.zeros(number), where=sizes > 0)[groups]


def _clearest(places: NDArray[np.intp], order: NDArray[np.float64], total: NDArray[np.int64]) -> NDArray[np.intp]:
    return places[np.lexsort((places, -total[places], order[places]))]
