"""Preference for a place in the list of options, and what it does to accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import FloatArray, IntArray
from analysis.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

#: Below it, what is found in an observer's answers is said to be there, rather than by chance.
SURE = 0.01
_RESAMPLES = 1000


def accuracy_with_preference(
    from_picture: ArrayLike, *, preference: float, options: int, without_label: float = 0.0
) -> FloatArray:
    """Accuracy of an observer whose right label stands at every place equally often.

    Parameters
    ----------
    from_picture : array-like of float
        Share right of the answers that follow the picture.
    preference : float
        Share of the labels that are named for their place, whatever the picture shows.
    options : int
    without_label : float
        Share of questions that get no label (refused, unreadable, empty), which count as wrong.

    Notes
    -----
    ``(1 - w) (b / k + (1 - b) p)``: of k places one is right.
    """
    right = np.asarray(from_picture, dtype=np.float64)
    return np.asarray((1 - without_label) * (preference / options + (1 - preference) * right), dtype=np.float64)


def accuracy_from_picture(of_labels: float, *, preference: float, options: int) -> float | None:
    """Share right of the answers that follow the picture: `accuracy_with_preference` solved for it.

    Parameters
    ----------
    of_labels : float
        Share right of all labels that were named.
    preference : float
    options : int

    Returns
    -------
    float or None
        In [0, 1]; None where every answer follows its place, or nothing was named.
    """
    if preference >= 1 or not np.isfinite(of_labels):
        return None
    return float(np.clip((of_labels - preference / options) / (1 - preference), 0.0, 1.0))


def place_preference(places: ArrayLike, options: int) -> float:
    """Share of answers that follow a preferred place in the list of options, whatever the picture shows.

    Parameters
    ----------
    places : array-like of int, shape (n,)
        Place of the named label in the order shown, 0 to ``options - 1``. Orders are drawn anew for each stimulus, so
        that an observer without a preference names every place equally often.
    options : int

    Returns
    -------
    float
        In [0, 1]; NaN with fewer than two answers.

    Raises
    ------
    InvalidInput
        If a place is none.

    Notes
    -----
    Where a share b of the answers goes to one place and the others to all alike, the chance that two answers name the
    same place is ``1/k + b^2 (k - 1)/k`` with k options. That chance is estimated without bias by the share of pairs of
    answers that agree, and solved for b. A preference for several places gives the b of one place that is as uneven.
    """
    given = np.asarray(places, dtype=np.int64)
    if given.ndim != 1 or ((given < 0) | (given >= options)).any():
        raise InvalidInput(f"A place is a whole number from 0 to {options - 1}.")
    return _preference(np.bincount(given, minlength=options).astype(np.float64))


def _preference(counts: FloatArray) -> float:
    n, k = counts.sum(), len(counts)
    if n < 2:
        return float("nan")
    same = (counts * (counts - 1.0)).sum() / (n * (n - 1.0))
    return float(np.sqrt(max(0.0, (same - 1.0 / k) * k / (k - 1.0))))


def preference_of(answers: pd.DataFrame, seed: int) -> tuple[float | None, tuple[float, float]]:
    """`place_preference` of answers in orders that were drawn, with an interval from resampled originals."""
    named = answers[answers["kind"] == "label"]
    if len(named) < 2:
        return None, (0.0, 1.0)
    options = max(len(shown.split()) for shown in named["shown"])
    counts = _counts(named, "original", options)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=_RESAMPLES)
    # A sample of one answer alone says nothing: it can be anything.
    resampled = np.nan_to_num([_preference(weights @ counts) for weights in drawn], nan=1.0)
    low, high = np.quantile(resampled, (0.025, 0.975))
    return _preference(counts.sum(axis=0)), (float(low), float(high))


@dataclass(frozen=True, kw_only=True)
class PlacePreference:
    """Where in the list named labels stand, when every picture is shown with all cyclic orders of its labels.

    Attributes
    ----------
    pictures, answers : int
        Pictures, and answers with a label.
    by_place : list of float
        Share of the answers for each place, the first one first; 1 / options each without a preference, whatever the
        pictures show.
    place : int
        The place that is named most, from 1.
    share : float
        Share of the answers that follow this place: ``(k q - 1) / (k - 1)`` with the share q of answers there.
    interval : tuple of float
        95 %, from resampled originals.
    p_value : float
        Of places as uneven as these where labels do not follow the order: labels permuted over a picture's orders.
    """

    pictures: int
    answers: int
    by_place: list[float]
    place: int
    share: float
    interval: tuple[float, float]
    p_value: float

    @property
    def followed(self) -> float:
        """Share of the labels that are taken to follow a place: none where chance alone would do as much."""
        return max(0.0, self.share) if self.p_value < SURE else 0.0


def rotated_preference(answers: pd.DataFrame, seed: int) -> PlacePreference | None:
    """Preference for a place from answers in all cyclic orders; None where fewer than two pictures have labels.

    Parameters
    ----------
    answers : DataFrame
        Columns of `analysis.tables.trials.ANSWERS`: for each picture one answer an order.
    seed : int
    """
    named = answers[answers["kind"] == "label"]
    if named["stimulus"].nunique() < 2:
        return None
    options = max(len(shown.split()) for shown in named["shown"])
    counts = _counts(named, "original", options)
    total = counts.sum(axis=0)
    best = int(total.argmax())
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=_RESAMPLES) @ counts
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num(_share_of(drawn[:, best] / drawn.sum(axis=1), options), nan=1.0)
    low, high = np.quantile(shares, (0.025, 0.975))
    return PlacePreference(
        pictures=int(named["stimulus"].nunique()),
        answers=len(named),
        by_place=(total / total.sum()).tolist(),
        place=best + 1,
        share=float(_share_of(total[best] / total.sum(), options)),
        interval=(float(max(low, 0.0)), float(max(high, 0.0))),
        p_value=_p_value(named, total, options, rng),
    )


def _share_of(at_place: FloatArray, options: int) -> FloatArray:
    return np.asarray((options * at_place - 1) / (options - 1), dtype=np.float64)


def _places(named: pd.DataFrame) -> IntArray:
    pairs = zip(named["shown"], named["response"], strict=True)
    return np.array([shown.split().index(label) for shown, label in pairs], dtype=np.int64)


def _counts(named: pd.DataFrame, by: str, options: int) -> FloatArray:
    """Answers at each place, a row for each value of a column."""
    rows, code = np.unique(named[by].to_numpy(dtype=np.str_), return_inverse=True)
    counts = np.zeros((len(rows), options))
    np.add.at(counts, (code, _places(named)), 1.0)
    return counts


def _p_value(named: pd.DataFrame, total: FloatArray, options: int, rng: np.random.Generator) -> float:
    found = np.zeros((_RESAMPLES - 1, options))
    for _, rows in named.groupby("stimulus", sort=True):
        orders = [shown.split() for shown in rows["shown"]]
        # place of each label that was named (column) in each order (row)
        where = np.array([[order.index(label) for label in rows["response"]] for order in orders])
        shuffled = rng.random((len(found), len(orders))).argsort(axis=1)
        places = where[np.arange(len(orders)), shuffled]
        np.add.at(found, (np.arange(len(found))[:, None], places), 1.0)
    as_uneven = (found**2).sum(axis=1) >= (total**2).sum()
    return float((1 + as_uneven.sum()) / _RESAMPLES)
