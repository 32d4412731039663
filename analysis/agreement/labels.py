"""How far people agree on what a picture shows: by majority, and by weighing people (one-coin EM).

For label checks (oracle, validation of pictures), not for robustness curves: those use every answer as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import FloatArray, IntArray
from analysis.errors import InvalidInput, TooFewResponses


@dataclass(frozen=True)
class PictureAgreement:
    """Answers to one picture.

    Parameters
    ----------
    picture : str
    n : int
        Answers.
    majority : str or None
        The most frequent answer; None where several are equally frequent.
    agreement : float
        Share of the answers that equal the most frequent one.
    """

    picture: str
    n: int
    majority: str | None
    agreement: float


@dataclass(frozen=True)
class LabelAgreement:
    """Agreement over all pictures.

    Parameters
    ----------
    pictures : tuple of PictureAgreement
        In order of names.
    agreement : float
        Share of all answers that equal the most frequent answer to their picture.
    """

    pictures: tuple[PictureAgreement, ...]
    agreement: float


@dataclass(frozen=True)
class GuessedAgreement:
    """Agreement of people who guess, each answer as likely as any other.

    Parameters
    ----------
    expected : float
        On average over studies with as many answers a picture.
    upper : float
        97.5 of 100 such studies stay below this, by the normal approximation over pictures.
    """

    expected: float
    upper: float


@dataclass(frozen=True)
class OneCoin:
    """What one-coin EM found.

    Parameters
    ----------
    answers : dict of str to str
        The most probable answer to each picture.
    certainty : dict of str to float
        Its probability.
    reliability : dict of str to float
        Each person's probability of giving the right answer; guessing is 1 / number of labels.
    iterations : int
        Steps until the reliabilities moved by less than the tolerance.
    """

    answers: dict[str, str]
    certainty: dict[str, float]
    reliability: dict[str, float]
    iterations: int


def label_agreement(pictures: Sequence[str], responses: Sequence[str]) -> LabelAgreement:
    """Agreement of answers with the most frequent one, picture by picture and over all.

    Parameters
    ----------
    pictures, responses : sequence of str, shape (n,)
        Picture and answer of each judgement.

    Returns
    -------
    LabelAgreement

    Raises
    ------
    InvalidInput
        If the columns differ in length.
    TooFewResponses
        If there is no answer.

    Notes
    -----
    ImageNet-D (supplement): share of the qualified answers that equal the majority.
    """
    names, picture, labels, response = _coded(pictures, responses)
    counts = np.zeros((len(names), len(labels)), dtype=np.int64)
    np.add.at(counts, (picture, response), 1)
    most = counts.max(axis=1)
    tied = (counts == most[:, None]).sum(axis=1) > 1
    found = tuple(
        PictureAgreement(
            names[place],
            int(counts[place].sum()),
            None if tied[place] else labels[int(counts[place].argmax())],
            float(most[place] / counts[place].sum()),
        )
        for place in range(len(names))
    )
    return LabelAgreement(found, float(most.sum() / counts.sum()))


def guessed_agreement(given: Sequence[int], labels: int) -> GuessedAgreement:
    """What `label_agreement` gives over all pictures where everybody guesses.

    Parameters
    ----------
    given : sequence of int
        Number of answers to each picture, at least 1.
    labels : int
        Answers that were offered, at least 2.

    Returns
    -------
    GuessedAgreement

    Raises
    ------
    InvalidInput
        If fewer than two labels were offered, or a picture has no answer.
    TooFewResponses
        If there is no picture.

    Notes
    -----
    The most frequent of few answers is frequent by itself: of 10 guesses among 4 labels, 4.2 agree on average. People
    who all give one answer agree fully without looking; sentinels are for them.
    """
    if labels < 2 or min(given, default=1) < 1:
        raise InvalidInput("Guessing takes at least two labels, and an answer to every picture.")
    if not len(given):
        raise TooFewResponses("There is no answer.")
    numbers, pictures = np.unique(np.asarray(given, dtype=np.int64), return_counts=True)
    moments = np.array([_most_of_guesses(int(n), labels) for n in numbers])
    mean, variance = pictures @ moments
    total = float(numbers @ pictures)
    return GuessedAgreement(float(mean / total), float(min(1.0, (mean + 1.96 * np.sqrt(variance)) / total)))


def _most_of_guesses(n: int, labels: int) -> tuple[float, float]:
    """Mean and variance of the largest count of n answers spread evenly over the labels."""
    expected = n / labels
    counts = np.arange(n + 1)
    # Counts of the labels are independent Poisson variables, given that they add up to n.
    log_factorials = np.concatenate(([0.0], np.cumsum(np.log(np.maximum(counts[1:], 1)))))
    poisson = np.exp(counts * np.log(expected) - expected - log_factorials)
    at_most = np.zeros(n + 1)
    for most in range(n + 1):
        one = np.where(counts <= most, poisson, 0.0)
        together = one
        for _ in range(labels - 1):
            together = np.convolve(together, one)[: n + 1]
        at_most[most] = together[n]
    share = np.diff(at_most / at_most[-1], prepend=0.0)
    mean = float(counts @ share)
    return mean, max(0.0, float((counts - mean) ** 2 @ share))


def one_coin(
    pictures: Sequence[str],
    people: Sequence[str],
    responses: Sequence[str],
    *,
    labels: int | None = None,
    iterations: int = 200,
    tolerance: float = 1e-7,
) -> OneCoin:
    """Weigh people by how often they agree with the others, and pictures' answers by people's weight.

    Parameters
    ----------
    pictures, people, responses : sequence of str, shape (n,)
        Picture, person and answer of each judgement.
    labels : int, optional
        Answers that were offered; by default those that were given.
    iterations, tolerance : int, float
        At most so many steps; stop when no reliability moves further than the tolerance.

    Returns
    -------
    OneCoin

    Raises
    ------
    InvalidInput
        If the columns differ in length, or fewer labels are offered than were given.
    TooFewResponses
        If there is no answer.

    Notes
    -----
    Dawid and Skene (1979) with one parameter a person: right with probability r, else any other label alike. Every
    label is as frequent as another beforehand. A person's r is estimated with one answer's weight of prior at the mean
    of all people, so that who answered one picture is not taken for infallible.
    """
    names, picture, kinds, response = _coded(pictures, responses)
    if len(people) != len(picture):
        raise InvalidInput(f"There are {len(picture)} answers, but {len(people)} people.")
    codes, person = np.unique(np.asarray(people, dtype=np.str_), return_inverse=True)
    offered = len(kinds) if labels is None else labels
    if offered < len(kinds):
        raise InvalidInput(f"{len(kinds)} different answers were given, but {offered} labels were offered.")
    posterior = np.zeros((len(names), len(kinds)))
    np.add.at(posterior, (picture, response), 1.0)
    posterior /= posterior.sum(axis=1, keepdims=True)
    given = np.bincount(person, minlength=len(codes)).astype(np.float64)
    reliability, steps = np.zeros(len(codes)), 0
    for step in range(1, iterations + 1):
        agreeing = posterior[picture, response]
        mean = float(agreeing.mean())
        updated = (np.bincount(person, weights=agreeing, minlength=len(codes)) + mean) / (given + 1.0)
        moved, reliability, steps = float(np.abs(updated - reliability).max()), updated, step
        posterior = _posterior(picture, person, response, reliability, (len(names), len(kinds)), offered)
        if moved < tolerance:
            break
    best = posterior.argmax(axis=1)
    return OneCoin(
        answers={name: kinds[int(label)] for name, label in zip(names, best, strict=True)},
        certainty={name: float(posterior[place, best[place]]) for place, name in enumerate(names)},
        reliability={str(code): float(value) for code, value in zip(codes, reliability, strict=True)},
        iterations=steps,
    )


def _posterior(
    picture: IntArray,
    person: IntArray,
    response: IntArray,
    reliability: FloatArray,
    shape: tuple[int, int],
    offered: int,
) -> FloatArray:
    """Probability of each label for each picture, given what people are worth."""
    kept = np.clip(reliability, 1e-6, 1.0 - 1e-6)
    worth = np.log(kept) - np.log((1.0 - kept) / max(offered - 1, 1))
    log = np.zeros(shape)
    np.add.at(log, (picture, response), worth[person])
    best = log.max(axis=1)
    weights = np.exp(log - best[:, None])
    # Labels that nobody gave stand at 0 on the same scale.
    never_given = (offered - shape[1]) * np.exp(-best)
    return np.asarray(weights / (weights.sum(axis=1) + never_given)[:, None])


def _coded(pictures: Sequence[str], responses: Sequence[str]) -> tuple[list[str], IntArray, list[str], IntArray]:
    if len(pictures) != len(responses):
        raise InvalidInput(f"There are {len(pictures)} pictures, but {len(responses)} answers.")
    if not len(pictures):
        raise TooFewResponses("There is no answer.")
    names, picture = np.unique(np.asarray(pictures, dtype=np.str_), return_inverse=True)
    labels, response = np.unique(np.asarray(responses, dtype=np.str_), return_inverse=True)
    return names.tolist(), picture.astype(np.int64), labels.tolist(), response.astype(np.int64)
