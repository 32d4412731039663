"""From how likely a model finds each label as its reply to an answer, by rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import FloatArray
from analysis.categories import NO_ANSWER
from analysis.errors import InvalidInput
from analysis.observers.questions import LETTERS, ForcedChoice
from analysis.observers.reading import Reading


@dataclass(frozen=True, slots=True)
class LabelScores:
    """What a model makes of each label as the beginning of its reply.

    Attributes
    ----------
    log_probabilities : tuple of float
        A label each, in the order shown: the sum of the log-probabilities of its tokens.
    tokens_in : int
        Tokens of the question, picture included.
    tokens_out : tuple of int
        Tokens of each label.

    Notes
    -----
    The sum is not divided by the number of tokens. No label begins with another one, so the sums are probabilities of
    events that exclude each other: the reply begins with this label. The question lists the labels, so that a label's
    later tokens follow almost surely from its first ones; a mean over tokens would turn the probability p of a label of
    two tokens into about the root of p, and prefer long labels.
    """

    log_probabilities: tuple[float, ...]
    tokens_in: int = 0
    tokens_out: tuple[int, ...] = ()

    @property
    def is_finite(self) -> bool:
        return all(math.isfinite(one) for one in self.log_probabilities)

    @property
    def mass(self) -> float:
        """Probability that the reply begins with a label at all."""
        return float(np.exp(self.log_probabilities).sum())

    def shares(self, temperature: float = 1.0) -> FloatArray:
        """Probability of each label, given that the reply is one: what a sampled reply would be."""
        scaled = np.asarray(self.log_probabilities, dtype=np.float64) / temperature
        weights = np.exp(scaled - scaled.max())
        return np.asarray(weights / weights.sum(), dtype=np.float64)


def decide(
    scores: LabelScores, labels: Sequence[str], *, temperature: float = 0.0, rng: np.random.Generator | None = None
) -> Reading:
    """Decide for a label.

    Parameters
    ----------
    scores : LabelScores
    labels : sequence of str
        In the order in which they were shown.
    temperature : float
        0: the likeliest label. Above 0: one drawn with its share at this temperature.
    rng : numpy.random.Generator, optional
        Draws the label; needed above 0.

    Returns
    -------
    Reading
        "label", or "miss" where a score is no finite number, or two labels are the likeliest.

    Raises
    ------
    InvalidInput
        If there is not one score a label, or no generator to draw with.
    """
    given = scores.log_probabilities
    if len(given) != len(labels) or not given:
        raise InvalidInput(f"There are {len(given)} scores for {len(labels)} labels.")
    if not scores.is_finite:
        return Reading("miss")
    if temperature <= 0:
        best = max(given)
        is_tied = given.count(best) > 1
        return Reading("miss") if is_tied else Reading("label", labels[given.index(best)])
    if rng is None:
        raise InvalidInput("A label is drawn at a temperature above 0: give a generator.")
    return Reading("label", labels[int(rng.choice(len(labels), p=scores.shares(temperature)))])


def replies(question: ForcedChoice) -> tuple[str, ...]:
    """What a reply says that names each label: the word, or the letter in front of it."""
    return question.labels if question.style == "words" else tuple(LETTERS[: len(question.labels)])


def text_of(reading: Reading, question: ForcedChoice) -> str:
    """The reply that stands for a decision; empty where there is none."""
    if reading.label == NO_ANSWER:
        return ""
    return replies(question)[question.labels.index(reading.label)]
