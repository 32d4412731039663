"""From the text of a reply to a label, by rule: no second model judges the first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from analysis.categories import NO_ANSWER
from analysis.observers.port import AnswerKind
from analysis.observers.questions import LETTERS, Style

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


def read_answer(text: str, labels: Sequence[str], style: Style = "words") -> Reading:
    """Read the one label that a reply names.

    Parameters
    ----------
    text : str
        The reply as it came.
    labels : sequence of str
        In the order in which they were shown.
    style : {"words", "letters"}
        Whether a letter names the label at its place. A reply that names a letter and another label is unreadable.

    Returns
    -------
    Reading
        "label" where the text names exactly one label, as often as it likes; "miss" where it is empty; "refusal" where
        it names none and says that it will not; "unreadable" otherwise. A list of all options names no one.
    """
    if not text.strip():
        return Reading("miss")
    named = {found.lower() for found in _words(tuple(labels)).findall(text)}
    if style == "letters":
        letters = {first or second for first, second in _OPTION.findall(text)}
        places = [LETTERS.index(letter) for letter in letters]
        if any(place >= len(labels) for place in places):
            return Reading("unreadable")
        named |= {labels[place] for place in places}
    if len(named) == 1:
        return Reading("label", named.pop())
    return Reading("refusal" if not named and _REFUSAL.search(text) else "unreadable")


@cache
def _words(labels: tuple[str, ...]) -> re.Pattern[str]:
    """Labels as whole words, in the singular or plural."""
    return re.compile(rf"\b({'|'.join(map(re.escape, labels))})(?:e?s)?\b", re.IGNORECASE)
