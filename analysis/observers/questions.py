"""What is asked about a stimulus: wordings, and orders of the labels that follow from a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from analysis.errors import InvalidInput
from analysis.labels.files import default_labels
from analysis.labels.space import MOST_FOR_PEOPLE, LabelSpace

#: Options as bare words, or behind letters, in which case a letter is an answer, too.
Style = Literal["words", "letters"]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

#: Names of wordings; `{options}` are the labels in the order shown, `{how}` says in what form to answer. The first one
#: is what people read after a picture.
WORDINGS: Mapping[str, str] = {
    "participants": "Which of these did you see?\n{options}\n{how}",
    "describes": "Which option best describes the image?\n{options}\n{how}",
    "shown": "What is shown in this picture? It belongs to exactly one of these categories.\n{options}\n{how}",
    "guess": (
        "The picture may be distorted so much that you cannot be sure. Choose the most likely of these options, and "
        "guess if you have to.\n{options}\n{how}"
    ),
}
HOW: Mapping[Style, str] = {
    "words": "Answer with one of these words alone.",
    "letters": "Answer with the option's letter from the given choices directly.",
}


class Question(Protocol):
    """One question: about one picture (`ForcedChoice`), or about several (`analysis.observers.comparisons.Comparison`).

    Attributes
    ----------
    labels, words : tuple of str
        What is offered, in the order in which it is shown, and what it is called.
    text : str
        As the observer reads it.
    style : {"words", "letters"}
    repeat : int
    space : LabelSpace or None
    """

    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def words(self) -> tuple[str, ...]: ...
    @property
    def text(self) -> str: ...
    @property
    def style(self) -> Style: ...
    @property
    def repeat(self) -> int: ...
    @property
    def space(self) -> LabelSpace | None: ...


@dataclass(frozen=True, slots=True)
class ForcedChoice:
    """One question about one picture.

    Attributes
    ----------
    labels : tuple of str
        In the order in which they are shown.
    wording : str
        One of `WORDINGS`.
    style : {"words", "letters"}
    order : int
        Number of the order among those of a stimulus, from 0.
    repeat : int
        The same question again, from 0: what differs between repeats is the observer's own noise.
    space : LabelSpace or None
        Where the labels' words come from, and what else is read as one of them; None: the labels are their words.
    """

    labels: tuple[str, ...] = field(default_factory=lambda: default_labels().ids)
    wording: str = "describes"
    style: Style = "words"
    order: int = 0
    repeat: int = 0
    space: LabelSpace | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """What the labels are called, in the order in which they are shown."""
        return self.labels if self.space is None else tuple(self.space[one].word() for one in self.labels)

    @property
    def text(self) -> str:
        """The question as the observer reads it."""
        if self.style == "words":
            options = ", ".join(self.words)
        else:
            options = "\n".join(f"{letter}. {word}" for letter, word in zip(LETTERS, self.words, strict=False))
        return WORDINGS[self.wording].format(options=options, how=HOW[self.style])


@dataclass(frozen=True, slots=True)
class AskPlan:
    """Which questions are asked about each stimulus.

    Attributes
    ----------
    wordings : tuple of str
        The first one decides the answer that stands for the stimulus; the spread over all is shown as a band.
    orders : int
        Orders of the labels a stimulus; each is drawn for the stimulus from the seed, so that over stimuli every label
        stands at every place equally often, and a preference for a place bends no curve.
    repeats : int
        How often each question is put.
    style : {"words", "letters"}
    seed : int
    is_balanced : bool
        Whether the right label stands at every place equally often among stimuli of similar visual change, instead of
        by chance.
    consistency : (int, int)
        How many stimuli get their first question how often in all; fewer stimuli: all of them.
    rotated : int
        Stimuli about which the first question is asked in all cyclic orders of their labels.
    grey, wrong, canaries : int
        Trials whose question is put with a grey picture, and with one of another category; and first questions that are
        put at the beginning and once more at the end.
    alternatives : int
        Labels that a question offers, the right one and foils by `analysis.observers.alternatives`; 0: all.
    foils : str
        Name of the classifier whose wrong answer to the picture is the first foil, where it gave one; empty: all foils
        are drawn.

    Raises
    ------
    InvalidInput
        If there is no such wording, or nothing would be asked.
    """

    wordings: tuple[str, ...] = ("describes", "shown")
    orders: int = 2
    repeats: int = 1
    style: Style = "words"
    seed: int = 0
    is_balanced: bool = False
    consistency: tuple[int, int] = (0, 1)
    rotated: int = 0
    grey: int = 0
    wrong: int = 0
    canaries: int = 0
    alternatives: int = 0
    foils: str = ""

    def __post_init__(self) -> None:
        unknown = [wording for wording in self.wordings if wording not in WORDINGS]
        if unknown or not self.wordings or len(set(self.wordings)) < len(self.wordings):
            raise InvalidInput(f"Wordings are {', '.join(WORDINGS)}, each at most once, not {self.wordings}.")
        if self.orders < 1 or self.repeats < 1:
            raise InvalidInput("A stimulus is asked about in at least one order, at least once.")
        if min(*self.consistency, self.rotated, self.grey, self.wrong, self.canaries) < 0:
            raise InvalidInput("Numbers of trials that are asked about more often are not negative.")
        if self.alternatives < 0 or self.alternatives == 1:
            raise InvalidInput(f"A question offers 2 alternatives or more, or (0) all labels: not {self.alternatives}.")
        if self.foils and not self.alternatives:
            raise InvalidInput(f"Foils of {self.foils} need a number of alternatives: else all labels are offered.")

    @property
    def questions_each(self) -> int:
        """Questions about every stimulus."""
        return len(self.wordings) * self.orders * self.repeats

    def questions_for(
        self,
        stimulus: str,
        space: LabelSpace | None = None,
        *,
        right: tuple[str, int] | None = None,
        offered: tuple[str, ...] = (),
    ) -> Iterator[ForcedChoice]:
        """The questions about one stimulus; the first answer stands for it.

        Without labels they are among the product's, which are called by their ids. `right`: the right label, and the
        place where it stands in the first order. `offered`: the labels that compete; none: all.
        """
        among = offered or (space or default_labels()).ids
        for repeat in range(self.repeats):
            for order in range(self.orders):
                labels = shuffled_labels(stimulus, among, seed=self.seed, order=order)
                if right is not None:
                    labels = rotated(labels, labels.index(right[0]) - right[1])
                for wording in self.wordings:
                    yield ForcedChoice(labels, wording, self.style, order, repeat, space)

    def check_labels(self, space: LabelSpace, *, is_scored: bool = False) -> None:
        """Refuse labels among which such questions cannot be asked.

        Parameters
        ----------
        space : LabelSpace
        is_scored : bool
            Whether the observer scores words as beginnings of its reply, instead of writing.

        Raises
        ------
        InvalidInput
            If there are too many, or scores of two words would not exclude each other.
        """
        most = len(LETTERS) if self.style == "letters" else MOST_FOR_PEOPLE
        if self.alternatives and len(space) <= MOST_FOR_PEOPLE:
            raise InvalidInput(
                f"{space.name} has {len(space)} labels, and a question can offer all of them: leave out the number of "
                "alternatives, so that answers compare with those of people and networks."
            )
        if (self.alternatives or len(space)) > most:
            asked = f"{self.alternatives} alternatives" if self.alternatives else f"{len(space):,} labels"
            raise InvalidInput(
                f"{space.name} has {len(space):,} labels; a question offers at most {most} behind "
                f"{'letters' if self.style == 'letters' else 'bare words'}, not {asked}. Offer fewer of them with each "
                "picture (--alternatives), or ask about pictures with fewer labels."
            )
        if not is_scored or self.style == "letters" or self.alternatives:
            return  # alternatives are drawn so that no word begins with another
        words = sorted(space[one].word().casefold() for one in space.ids)
        pairs = zip(words, words[1:], strict=False)
        begun = next(((one, other) for one, other in pairs if other.startswith(one)), None)
        if begun is not None:
            raise InvalidInput(
                f"{begun[1]!r} begins with {begun[0]!r}, so that the score of one would hold the other's. Ask with "
                "letters, or change a word."
            )


def drawn_from(*parts: object) -> np.random.Generator:
    """A generator that follows from what is drawn, the seed and for which stimulus, and from nothing else."""
    digest = hashlib.sha256("\n".join(map(str, parts)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def rotated(labels: tuple[str, ...], steps: int) -> tuple[str, ...]:
    """The labels in the same order, begun `steps` places further on."""
    steps %= len(labels)
    return (*labels[steps:], *labels[:steps])


def shuffled_labels(stimulus: str, labels: Sequence[str], *, seed: int, order: int) -> tuple[str, ...]:
    """The labels in an order that follows from stimulus, seed and number of the order alone."""
    places = drawn_from("label order", seed, order, stimulus).permutation(len(labels))
    return tuple(labels[int(place)] for place in places)
