"""What the product knows of an observer that is asked in words: it gets a picture and a question, and writes a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.labels.space import NO_ANSWER
from analysis.observers.questions import Question

if TYPE_CHECKING:
    from analysis.observers.scoring import LabelScores

#: What became of a question. Only a label can be right: the others count as wrong answers, like a person's miss.
AnswerKind = Literal["label", "miss", "refusal", "unreadable", "outside", "error"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What an observer said to one question.

    Attributes
    ----------
    kind : {"label", "miss", "refusal", "unreadable", "outside", "error"}
        A miss is an empty text, or labels that score alike or by no number; a refusal says that there will be no
        answer; an unreadable text names no label, or several; an answer outside names one label that was not offered;
        an error is a question that the observer's server could not answer, though it answers others.
    label : str
        The label that was named; `NO_ANSWER` unless the kind is "label".
    text : str
        The reply as it came; of a model that scores labels, the one that stands for its decision.
    tokens_in, tokens_out : int
        Of the question (picture included) and of the reply, as the observer counts them; 0 where it does not.
    tokens_thought, tokens_picture : int or None
        Of these, those that it thought before it wrote, and those of the picture; None where it does not say.
    finish_reason : str
        Why the reply ended, as the observer says; "length": at the most tokens that it may have.
    model, fingerprint : str
        What the observer calls itself, and all that it says of its own version; may be empty.
    granted : mapping
        The decoding that the observer took, of that which was asked for.
    answered_at : str
        When, ISO 8601, UTC; empty where an answer is computed anew whenever it is wanted.
    was_known : bool
        Whether the answer was kept from an earlier call and cost nothing now.
    scores : LabelScores or None
        Of a model that scores labels instead of writing.
    """

    kind: AnswerKind
    label: str = NO_ANSWER
    text: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_thought: int | None = None
    tokens_picture: int | None = None
    finish_reason: str = ""
    model: str = ""
    fingerprint: str = ""
    granted: Mapping[str, str | float | int] = field(default_factory=dict)
    answered_at: str = ""
    was_known: bool = False
    scores: LabelScores | None = None


class Observer(Protocol):
    """An observer that answers in words, such as a vision-language model.

    Attributes
    ----------
    name : str
        Short name for figures.
    digest : str
        SHA-256 of all that is known to determine the answers: address, model, decoding.
    preprocessing : str
        One line that says what is done to a picture before the observer gets it.
    is_repeatable : bool
        Whether the same weights can be asked again; not so where somebody else may change them.
    versions : mapping of str to str
        Of the libraries that have a part in the answers.
    """

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def preprocessing(self) -> str: ...
    @property
    def is_repeatable(self) -> bool: ...
    @property
    def versions(self) -> Mapping[str, str]: ...

    def is_known(self, picture: NDArray[np.uint8], question: Question) -> bool:
        """Whether the answer to this question is kept already, so that asking costs nothing."""
        ...

    def answer(self, picture: NDArray[np.uint8], question: Question) -> Answer:
        """Ask about one RGB picture, shape (h, w, 3), or about several in their order, shape (n, h, w, 3).

        May be called by several threads at once.

        Raises
        ------
        ObserverUnavailable
            If there is no answer, after all attempts; nothing is taken for one.
        """
        ...
