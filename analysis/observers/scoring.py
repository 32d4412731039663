"""How answers in words are read, and what is scored on them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from analysis.arrays import FloatArray
from analysis.errors import InvalidInput
from analysis.labels.space import NO_ANSWER, LabelSpace
from analysis.observers.port import AnswerKind
from analysis.observers.questions import LETTERS, Question, Style

#: Says that there will be no answer; looked for only where no label is named.
_REFUSAL = re.compile(
    r"^\s*blocked\s*$|\b(sorry|cannot|can['’]?t|unable|not able|won['’]?t|decline|refuse|no image|no picture"
    r"|not allowed|against (my|the) (policy|guidelines)|as an ai)\b",
    re.IGNORECASE,
)
#: A letter as the name of an option: `K`, `K.`, `(K)`, `K: dog`, `The answer is K`, also where lines were glued.
_OPTION = re.compile(
    r"(?<![A-Z'’])([A-Z])(?=[.:)]|\s*$)|\b(?:answer|option|choice)(?:\s+is)?:?\s+\(?([A-Z])\b", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says."""

    kind: AnswerKind
    label: str = NO_ANSWER


def read_answer(text: str, labels: Sequence[str], style: Style = "words", space: LabelSpace | None = None) -> Reading:
    """Read the one label that a reply names.

    Parameters
    ----------
    text : str
        The reply as it came.
    labels : sequence of str
        In the order in which they were shown.
    style : {"words", "letters"}
        Whether a letter names the label at its place. A reply that names a letter and another label is unreadable.
    space : LabelSpace, optional
        With it a label is named by its id, its word or a synonym, in English; without, by its id alone.

    Returns
    -------
    Reading
        "label" where the text names exactly one label, as often as it likes; "miss" where it is empty; "outside" where
        it names none of these, but one other label of the space; "refusal" where it names none and says that it will
        not; "unreadable" otherwise. A list of all options names no one.
    """
    if not text.strip():
        return Reading("miss")
    # in one order, whatever was shown: each stimulus has its own, and the pattern of words is made once
    everything = tuple(sorted(labels if space is None else space.ids))
    every, meant = _meant(everything, space), _meant(tuple(sorted(labels)), space)
    found = {_plain(one) for one in _words(tuple(every)).findall(text)}
    named = {meant[one] for one in found if one in meant}
    if style == "letters":
        letters = {first or second for first, second in _OPTION.findall(text)}
        places = [LETTERS.index(letter) for letter in letters]
        if any(place >= len(labels) for place in places):
            return Reading("unreadable")
        named |= {labels[place] for place in places}
    if len(named) == 1:
        return Reading("label", named.pop())
    if not named and len({every[one] for one in found}) == 1:
        return Reading("outside")
    return Reading("refusal" if not named and _REFUSAL.search(text) else "unreadable")


@lru_cache(maxsize=64)
def _meant(labels: tuple[str, ...], space: LabelSpace | None) -> Mapping[str, str]:
    """The label that each reading names; a word goes before the id of another label."""
    if space is None:
        return {_plain(label): label for label in labels}
    meant = {_plain(label): label for label in labels}
    for label in labels:
        for word in (space[label].word(), *space[label].synonyms.get("en", ())):
            meant[_plain(word)] = label
    return meant


def _plain(text: str) -> str:
    return " ".join(text.replace("_", " ").split()).casefold()


@lru_cache(maxsize=64)
def _words(readings: tuple[str, ...]) -> re.Pattern[str]:
    """Readings as whole words, in the singular or plural; of those that begin alike, the longest is found."""
    longest_first = sorted(readings, key=len, reverse=True)
    written = "|".join(r"[\s_]+".join(map(re.escape, reading.split(" "))) for reading in longest_first)
    return re.compile(rf"(?<!\w)({written})(?:e?s)?(?!\w)", re.IGNORECASE)


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


def replies(question: Question) -> tuple[str, ...]:
    """What a reply says that names each label: the word, or the letter in front of it."""
    return question.words if question.style == "words" else tuple(LETTERS[: len(question.labels)])


def text_of(reading: Reading, question: Question) -> str:
    """The reply that stands for a decision; empty where there is none."""
    if reading.label == NO_ANSWER:
        return ""
    return replies(question)[question.labels.index(reading.label)]
