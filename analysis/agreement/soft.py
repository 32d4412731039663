"""Soft agreement: how well a distribution over the labels predicts what people answer, picture by picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import FloatArray
from analysis.claims.agreement import ENOUGH_ANSWERING
from analysis.clusters import clustered
from analysis.errors import InvalidInput, TooFewResponses
from analysis.study.analysis_plan import LEVEL


@dataclass(frozen=True)
class SoftAgreement:
    """Cross-entropy of people's answers under a distribution, in bits an answer.

    Parameters
    ----------
    cross_entropy : float
        Mean over pictures, at least 0.
    interval : tuple of float
        Over pictures, or over originals where pictures share them.
    beyond_people : float or None
        Less what people reach who are predicted by the rest of people, on the same pictures; None for these.
    beyond_interval : tuple of float or None
        Of that difference.
    guessing : float
        Cross-entropy of an observer to whom every label is as probable: log2 of their number.
    pictures, originals, answers : int
        Pictures that enough people answered, different originals behind them, and people's answers.
    """

    cross_entropy: float
    interval: tuple[float, float]
    beyond_people: float | None
    beyond_interval: tuple[float, float] | None
    guessing: float
    pictures: int
    originals: int
    answers: int


def soft_agreement(
    counts: ArrayLike,
    shares: ArrayLike | None = None,
    *,
    originals: ArrayLike | None = None,
    level: float = LEVEL,
) -> SoftAgreement:
    """How well people's answers are predicted by a distribution, or by the rest of people.

    Parameters
    ----------
    counts : array-like of int, shape (pictures, labels)
        How many people gave each answer, one answer a person and picture. Pictures with fewer than `ENOUGH_ANSWERING`
        answers are left out.
    shares : array-like, shape (pictures, labels), optional
        An observer's probability of each label; what is missing to 1 lies outside the labels. Without it every person
        is predicted by the others: the ceiling.
    originals : array-like, shape (pictures,), optional
    level : float
        Of the intervals.

    Returns
    -------
    SoftAgreement

    Raises
    ------
    InvalidInput
        If the shapes differ, counts are negative, or shares are no probabilities.
    TooFewResponses
        If no picture has enough answers.

    Notes
    -----
    Peterson, Battleday, Griffiths and Russakovsky (2019, ICCV) compare networks with the distribution of people's
    answers by its cross-entropy. With n answers to a picture, a person is predicted by the other n - 1 and one answer
    more that is spread over all L labels: ``(c - 1 + 1 / L) / n`` for an answer that c people gave. An observer's
    distribution m is smoothed as much, ``((n - 1) m + 1 / L) / n``. So one that equals the population's reaches, on
    average, at least what the rest of people reaches (Jensen's inequality), and one that is sure of a wrong answer is
    punished no more than people who are sure of it. Intervals are those of t over originals, for these people.
    """
    given = np.asarray(counts, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] < 2 or (given < 0).any():
        raise InvalidInput("Answers are counted by picture and label, of which there are two or more.")
    names = np.arange(len(given)) if originals is None else np.asarray(originals)
    if names.shape != (len(given),):
        raise InvalidInput("Originals have one entry a picture.")
    n = given.sum(axis=1)
    enough = n >= ENOUGH_ANSWERING
    if not enough.any():
        raise TooFewResponses(f"No picture was answered by {ENOUGH_ANSWERING} people or more.")
    labels = given.shape[1]
    of_people = _by_rest(given[enough], n[enough])
    values, beyond = of_people, None
    _, original = np.unique(names[enough], return_inverse=True)
    if shares is not None:
        values = _by_shares(given[enough], n[enough], _probabilities(shares, given.shape)[enough])
        beyond = _mean(values - of_people, original, level)
    mean, interval = _mean(values, original, level)
    return SoftAgreement(
        mean,
        (max(interval[0], 0.0), interval[1]),
        None if beyond is None else beyond[0],
        None if beyond is None else beyond[1],
        float(np.log2(labels)),
        len(values),
        int(original.max()) + 1,
        int(n[enough].sum()),
    )


def shares_of_confidence(response: ArrayLike, confidence: ArrayLike, labels: int) -> FloatArray:
    """The distribution behind a response and its probability: the rest is spread evenly over the other labels.

    Parameters
    ----------
    response : array-like of int, shape (n,)
        Number of the label; -1 for a response that is none of the labels.
    confidence : array-like, shape (n,)
        Probability of the response, in [0, 1].
    labels : int
        At least 2.

    Returns
    -------
    ndarray, shape (n, labels)

    Raises
    ------
    InvalidInput
        If a confidence is no probability.

    Notes
    -----
    Of all distributions with this probability of the response it is the one of the greatest entropy: nothing is made up
    about the labels that were not named.
    """
    named, sure = np.asarray(response, dtype=np.int64), np.asarray(confidence, dtype=np.float64)
    if not ((sure >= 0.0) & (sure <= 1.0)).all():
        first = int(np.argmin((sure >= 0.0) & (sure <= 1.0)))
        raise InvalidInput(
            f"predictions, answer {first}: the confidence is {sure[first]:g}. Give the probability of the response, "
            "from 0 to 1, or leave the column out."
        )
    inside = named >= 0
    others = np.where(inside, labels - 1, labels)
    found = np.repeat(((1.0 - sure) / others)[:, None], labels, axis=1)
    found[np.flatnonzero(inside), named[inside]] = sure[inside]
    return np.asarray(found)


def _by_rest(counts: FloatArray, n: FloatArray) -> FloatArray:
    """Bits an answer of every picture, each person predicted by the others."""
    labels = counts.shape[1]
    rest = np.maximum(counts - 1.0, 0.0) + 1.0 / labels
    return np.asarray(-(counts * np.log2(rest / n[:, None])).sum(axis=1) / n)


def _by_shares(counts: FloatArray, n: FloatArray, shares: FloatArray) -> FloatArray:
    """The same, predicted by a distribution that is smoothed as much."""
    labels = counts.shape[1]
    smoothed = ((n[:, None] - 1.0) * shares + 1.0 / labels) / n[:, None]
    return np.asarray(-(counts * np.log2(smoothed)).sum(axis=1) / n)


def _mean(values: FloatArray, original: np.ndarray, level: float) -> tuple[float, tuple[float, float]]:
    mean = float(values.mean())
    parts = np.bincount(original, weights=(values - mean) / len(values))[:, None].astype(np.float64)
    reach = float(clustered([parts], np.zeros(1)).reach(level)[0])
    return mean, (mean - reach, mean + reach)


def _probabilities(shares: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    given = np.asarray(shares, dtype=np.float64)
    if given.shape != shape:
        raise InvalidInput("An observer has one probability for every picture and label.")
    if not (given >= 0.0).all() or (given.sum(axis=1) > 1.0 + 1e-6).any():
        raise InvalidInput("Probabilities of labels are at least 0, and those of a picture sum to at most 1.")
    return given
