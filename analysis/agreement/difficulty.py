"""Models over people's own accuracy: how right is a model where people are right so often?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import FloatArray, IntArray
from analysis.claims.difficulty import ENOUGH_ANSWERS, ENOUGH_OTHERS, ENOUGH_PEOPLE, REGIMES
from analysis.clusters import clustered
from analysis.errors import InvalidInput
from analysis.study.analysis_plan import LEVEL


@dataclass(frozen=True)
class AtDifficulty:
    """People and a model on the pictures that other people find about as hard.

    Parameters
    ----------
    placed : tuple of float
        Ends of the regime: the share of other people's right answers that places an answer here, in [0, 1].
    people, classifier : float
        Share of right answers of those whose answers were placed, and of the model to the same pictures.
    difference : float
        Model minus people, in [-1, 1].
    interval : tuple of float
        Of the difference, for new people and new originals.
    n, participants, originals : int
        Answers, people and originals in this regime.
    """

    placed: tuple[float, float]
    people: float
    classifier: float
    difference: float
    interval: tuple[float, float]
    n: int
    participants: int
    originals: int

    @property
    def shown(self) -> bool:
        """Whether it rests on `ENOUGH_ANSWERS` answers of `ENOUGH_PEOPLE` people to as many originals."""
        return self.n >= ENOUGH_ANSWERS and min(self.participants, self.originals) >= ENOUGH_PEOPLE


def ease_for_others(correct: ArrayLike, people: ArrayLike, originals: ArrayLike, collections: ArrayLike) -> FloatArray:
    """How often other people are right on other originals of the same collection.

    Parameters
    ----------
    correct : array-like of bool, shape (n,)
        Answers of people.
    people, originals, collections : array-like, shape (n,)
        Who answered, the original behind the picture, and the collection it is of: a condition, or a corruption in a
        narrow range of visual change.

    Returns
    -------
    ndarray, shape (n,)
        Share of right answers in [0, 1]; NaN with fewer than `ENOUGH_OTHERS` answers of others to other originals.

    Notes
    -----
    Xu, Luo, Dickens and Mok (2026, arXiv:2603.07462) order collections of pictures by people's accuracy on them.
    Read from the answers that are then compared, that accuracy owes its extremes to luck, and an observer like people
    seems better than people on what is hard and worse on what is easy (regression to the mean). Here neither the
    answers of the same person nor those to the same original place an answer.
    """
    right = np.asarray(correct, dtype=np.float64)
    columns = [np.unique(np.asarray(one), return_inverse=True)[1] for one in (collections, people, originals)]
    if any(one.shape != right.shape for one in columns):
        raise InvalidInput("People, originals and collections have one entry an answer.")
    collection, person, original = columns
    counts, sums = np.zeros_like(right), np.zeros_like(right)
    # Whoever shares the person or the original is left out; who shares both is taken away twice, and added once.
    many_people, many_originals = person.max(initial=0) + 1, original.max(initial=0) + 1
    of_person, of_original = collection * many_people + person, collection * many_originals + original
    for sign, keys in ((1, collection), (-1, of_person), (-1, of_original), (1, of_person * many_originals + original)):
        _, group = np.unique(keys, return_inverse=True)
        counts += sign * np.bincount(group)[group]
        sums += sign * np.bincount(group, weights=right)[group]
    return np.divide(sums, counts, out=np.full_like(right, np.nan), where=counts >= ENOUGH_OTHERS)


def at_difficulties(
    ease: ArrayLike,
    correct: ArrayLike,
    classifier: ArrayLike,
    people: ArrayLike,
    originals: ArrayLike,
    *,
    level: float = LEVEL,
) -> tuple[AtDifficulty, ...]:
    """A model beside people in each of `REGIMES` equal ranges of people's accuracy.

    Parameters
    ----------
    ease : array-like, shape (n,)
        From `ease_for_others`; answers with NaN are left out.
    correct : array-like of bool, shape (n,)
        Answers of people.
    classifier : array-like, shape (n,)
        The model's answer to the same picture: 1 right, 0 wrong.
    people, originals : array-like, shape (n,)
    level : float
        Of the intervals.

    Returns
    -------
    tuple of AtDifficulty
        The hardest first; ranges without an answer are left out.

    Raises
    ------
    InvalidInput
        If the columns differ in length.

    Notes
    -----
    The interval is that of t, from the paired differences clustered by person and by original (`clustered`). Its
    variance is at least that of Agresti and Min (2005, Statistics in Medicine 24, 729) for single answers, half an
    answer added to each of the four cells: observers who agree everywhere keep an interval, too.
    """
    place, right, theirs = (np.asarray(one, dtype=np.float64) for one in (ease, correct, classifier))
    _, person = np.unique(np.asarray(people), return_inverse=True)
    _, original = np.unique(np.asarray(originals), return_inverse=True)
    if len({one.shape for one in (place, right, theirs, person, original)}) != 1:
        raise InvalidInput("Each column has one entry an answer.")
    # Shares are ratios of counts: at a limit they meet it only up to rounding.
    regime = np.floor(np.nan_to_num(place, nan=-1.0) * REGIMES + 1e-9).clip(-1, REGIMES - 1)
    found = []
    for number in range(REGIMES):
        here = regime == number
        if here.any():
            ends = number / REGIMES, (number + 1) / REGIMES
            found.append(_at(ends, right[here], theirs[here], person[here], original[here], level))
    return tuple(found)


def _at(
    placed: tuple[float, float],
    right: FloatArray,
    theirs: FloatArray,
    person: IntArray,
    original: IntArray,
    level: float,
) -> AtDifficulty:
    n = len(right)
    paired = theirs - right
    difference = float(paired.mean())
    influence = (paired - difference) / n
    _, who = np.unique(person, return_inverse=True)
    _, what = np.unique(original, return_inverse=True)
    sums = [np.bincount(codes, weights=influence)[:, None].astype(np.float64) for codes in (who, what)]
    spread = clustered(sums, np.array([float(influence @ influence)]))
    discordant = float(np.abs(paired).sum()) + 1.0
    least = (discordant - (float(paired.sum()) ** 2) / (n + 2.0)) / (n + 2.0) ** 2
    reach = float(replace(spread, variance=np.maximum(spread.variance, least)).reach(level)[0])
    return AtDifficulty(
        placed=placed,
        people=float(right.mean()),
        classifier=float(theirs.mean()),
        difference=difference,
        interval=(max(difference - reach, -1.0), min(difference + reach, 1.0)),
        n=n,
        participants=len(sums[0]),
        originals=len(sums[1]),
    )
