"""The published test of same/different answers: binomial, two-sided against 1/2, answers taken as independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.claims.telling_apart import NO_PICTURES, SHARED_PICTURES
from analysis.errors import InvalidInput


@dataclass(frozen=True)
class BinomialTest:
    """What the published test says of one pair of corruptions; no verdict rests on it.

    Parameters
    ----------
    trials, correct : int
        Answers given in time, and the right ones among them.
    share : float or None
        Share right, in [0, 1]; None without an answer.
    p : float or None
        Two-sided, against 1/2; None where it is withheld, and without an answer.
    withheld : str
        Why p is not given, in a sentence; empty where it is.
    """

    trials: int
    correct: int
    share: float | None
    p: float | None
    withheld: str


#: No study of more trials is planned.
_MOST_TRIALS = 100_000


def binomial_p(correct: int, trials: int) -> float:
    """Two-sided p-value of so many right answers, where each is right with a chance of 1/2.

    Parameters
    ----------
    correct, trials : int
        From 0 to ``trials``, and at least 1.

    Returns
    -------
    float
        In (0, 1]: the chance of a number at least as far from half of the trials.

    Raises
    ------
    InvalidInput
        If there is no trial, or the right ones are not among them.
    """
    from scipy.special import bdtr

    if trials < 1 or not 0 <= correct <= trials:
        raise InvalidInput(f"{correct} of {trials} trials cannot be right.")
    # At 1/2 both tails are equal.
    return min(2.0 * float(bdtr(min(correct, trials - correct), trials, 0.5)), 1.0)


def published_test(
    correct: ArrayLike,
    *,
    answered: ArrayLike,
    participants: Sequence[object] | NDArray[np.generic],
    pictures: Sequence[object] | NDArray[np.generic] | None,
) -> BinomialTest:
    """Test whether people's same/different or ABX answers are right more or less often than by guessing.

    Parameters
    ----------
    correct, answered : array-like of bool, shape (n,)
        Was it right; was there an answer in time? Missed trials are left out: a crowd that guesses and misses some
        would otherwise be right in less than half.
    participants : sequence, shape (n,)
    pictures : sequence, shape (n,), or None
        Ids of what a trial showed; None where that is not known.

    Returns
    -------
    BinomialTest
        Without p where several people saw the same pictures, or that is not known: their answers depend on each other.

    Notes
    -----
    VCR, section 4.4, *Identifying Visually Similar Transformations*: "we use a binomial test to check whether the
    accuracy is statistically significant to not be random". Answers of one person are taken as independent, and a bias
    towards one answer as none, as published; d' is freed of both.
    """
    given = np.asarray(answered, dtype=bool)
    right = np.asarray(correct, dtype=bool) & given
    trials, number = int(given.sum()), int(right.sum())
    share = number / trials if trials else None
    withheld = _withheld(np.asarray(participants)[given], None if pictures is None else np.asarray(pictures)[given])
    p = binomial_p(number, trials) if trials and not withheld else None
    return BinomialTest(trials, number, share, p, withheld)


def _withheld(people: NDArray[np.generic], pictures: NDArray[np.generic] | None) -> str:
    if pictures is None:
        return NO_PICTURES
    shown = np.stack([pictures.astype(str), people.astype(str)], axis=1)
    seen_by = np.unique(np.unique(shown, axis=0)[:, 0], return_counts=True)[1]
    several = int((seen_by > 1).sum())
    return SHARED_PICTURES.format(several=several, pairs=len(seen_by)) if several else ""


def trials_to_find(share: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """Trials from which on the published test finds a true share right.

    Parameters
    ----------
    share : float
        True share right, in (0.5, 1).
    power : float
        Wanted chance of a p below ``alpha``, in (0, 1).
    alpha : float
        Level of the test, in (0, 1).

    Returns
    -------
    int
        The smallest number from which on the power stays at least as wanted: it is no smooth function of the trials.

    Raises
    ------
    InvalidInput
        If a value is out of range, or more than 100,000 trials were needed.
    """
    from scipy.special import bdtr, ndtri
    from scipy.stats import binom

    if not 0.5 < share < 1.0 or not 0.0 < power < 1.0 or not 0.0 < alpha < 1.0:
        raise InvalidInput("The true share right lies between 1/2 and 1, power and level between 0 and 1.")
    reach = float(ndtri(1.0 - alpha / 2.0)) / 2.0 + float(ndtri(power)) * float(np.sqrt(share * (1.0 - share)))
    about = (max(reach, 0.5) / (share - 0.5)) ** 2
    if about > _MOST_TRIALS:
        raise InvalidInput(f"More than {_MOST_TRIALS:,} trials would be needed to find a share right of {share:g}.")
    trials = np.arange(1, int(2.0 * about) + 60)
    edge = binom.ppf(alpha / 2.0, trials, 0.5)
    # The largest number wrong (or right) whose two tails together stay below the level; -1 where there is none.
    edge = np.where(2.0 * bdtr(edge, trials, 0.5) < alpha, edge, edge - 1.0)
    tails = [bdtr(np.maximum(edge, 0.0), trials, one) for one in (share, 1.0 - share)]
    found = np.where(edge < 0.0, 0.0, tails[0] + tails[1])
    return int(trials[np.flatnonzero(found < power)[-1]]) + 1
