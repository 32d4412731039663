"""Same/different and ABX as they are put to a model: several pictures, one question, and how its reply is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.labels.space import LabelSpace
from analysis.observers.protocol import VIEWING
from analysis.observers.questions import Question, Style, drawn_from
from analysis.observers.scoring import Reading, read_answer
from analysis.study.design import DiscriminationForm
from analysis.wording import counted, quoted, with_interval

if TYPE_CHECKING:
    from analysis.classifiers.shards import ShownStimulus

#: What is asked, in the words that people read. ABX calls its pictures by their places: "a" is an article, too.
QUESTIONS: Mapping[DiscriminationForm, str] = {
    "same-different": (
        "A computer has changed both pictures. What the pictures show does not matter: it always differs. Same and "
        "different come about equally often.\n"
        "Were both pictures changed in the same way?\n{options}\nAnswer with one of these words alone."
    ),
    "abx": (
        "A computer has changed the first picture in one way and the second in another. The third was changed like the "
        "first or like the second; each comes equally often. What the pictures show does not matter.\n"
        "Was the third picture changed like the first, or like the second?\n{options}\nAnswer with one of these words "
        "alone."
    ),
}
#: Words that are offered, and the answers of people that they stand for.
ANSWERS: Mapping[DiscriminationForm, Mapping[str, str]] = {
    "same-different": {"same": "same", "different": "different"},
    "abx": {"first": "a", "second": "b"},
}
#: Name in TRIALS of each task.
TASKS: Mapping[str, DiscriminationForm] = {"discrimination": "same-different", "abx": "abx"}
#: Takes back the one word that is named: "not the same" is no "same".
_NEGATED = re.compile(r"\b(not|no|never|neither|nor|cannot|\w+n['’]t)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question about two or three pictures.

    Attributes
    ----------
    form : {"same-different", "abx"}
    labels : tuple of str
        The two words, in the order in which they are offered.
    """

    form: DiscriminationForm
    labels: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        return self.labels

    @property
    def style(self) -> Style:
        return "words"

    @property
    def repeat(self) -> int:
        return 0

    @property
    def space(self) -> LabelSpace | None:
        return None

    @property
    def text(self) -> str:
        return QUESTIONS[self.form].format(options=", ".join(self.labels))


@dataclass(frozen=True, slots=True)
class Compared:
    """A planned comparison: the pictures in the order in which people see them, and the right answer of people.

    Attributes
    ----------
    task : {"discrimination", "abx"}
    role : str
        "main", or "negative" for plain pairs.
    shown : tuple of ShownStimulus, of length 2 or 3
    right : {"same", "different", "a", "b"}
    """

    task: str
    role: str
    shown: tuple[ShownStimulus, ...]
    right: str

    @property
    def form(self) -> DiscriminationForm:
        return TASKS[self.task]


def read_reply_to(text: str, question: Question) -> Reading:
    """Read a reply by the rule of its question.

    That of `scoring.read_answer`; of a comparison, a reply that denies anything is unreadable whatever word it names.
    """
    found = read_answer(text, question.labels, question.style, question.space)
    if isinstance(question, Comparison) and found.kind == "label" and _NEGATED.search(text):
        return Reading("unreadable")
    return found


def with_questions(trials: Sequence[Compared], *, seed: int) -> Iterator[tuple[Compared, Comparison]]:
    """The question of each comparison, in the order given.

    The two words change places so that the right one is offered first in half: of every two comparisons of the same
    functions with the same right answer, neighbours in visual change, once. What is offered first therefore says
    nothing of the answer, and a model that prefers it gets no d' by that.
    """
    order = sorted(range(len(trials)), key=lambda place: _alike(trials[place]))
    first: dict[int, int] = {}
    for start in range(0, len(order), 2):
        places = drawn_from("options", seed, start).permutation(2)
        first |= {place: int(one) for place, one in zip(order[start : start + 2], places, strict=False)}
    for place, trial in enumerate(trials):
        right = next(word for word, answer in ANSWERS[trial.form].items() if answer == trial.right)
        (other,) = (word for word in ANSWERS[trial.form] if word != right)
        yield trial, Comparison(trial.form, (right, other) if first[place] == 0 else (other, right))


def _alike(trial: Compared) -> tuple[Any, ...]:
    names = sorted({one.corruption for one in trial.shown[:2]})
    return trial.role, names, trial.right, trial.shown[0].visual_change, [one.stimulus for one in trial.shown]


def comparison_text(observer: str, asking: Mapping[str, Any]) -> str:
    """One paragraph of methods.

    Parameters
    ----------
    observer : str
    asking : mapping
        What its run kept: ``task``, ``prompt``, ``seed``, ``temperature``, ``thinking``, ``most_tokens``, ``digest``,
        ``is_scored``, ``is_repeatable``, and ``summary`` (`analysis.findings.discrimination.comparison_summary`).
    """
    found, pictures = asking["summary"], 3 if asking["task"] == "abx" else 2
    question = asking["prompt"].splitlines()[1]
    sentences = [
        f"{quoted(observer)} answered the comparisons planned for people (sha256 {asking['digest'][:16]}): "
        f"{counted(found['trials'], 'comparison')} and {counted(found['plain'], 'plain one')}, each once, without "
        "practice or feedback.",
        f"Each request showed {pictures} pictures in the order in which people see them, as PNG at the size that "
        f"people saw, without name or metadata, with {VIEWING} and no mask. The question was \u201c{question}\u201d; "
        "the right word was offered first in half of the comparisons of each kind.",
    ]
    if asking["is_scored"]:
        sentences.append("It wrote nothing: its answer was drawn between the two words by their log-probabilities.")
    else:
        thinking = {"off": ", and not to think before it wrote", "on": ", and to think before it wrote"}
        sentences.append(
            f"It was asked for replies at temperature {asking['temperature']:g} of at most {asking['most_tokens']:,} "
            f"tokens{thinking.get(asking['thinking'], '')}. A reply counts where it names exactly one of the two words "
            "and denies nothing; no model judged replies."
        )
    without = {kind: n for kind, n in found["kinds"].items() if kind != "label"}
    if without:
        named = ", ".join(f"{kind} {n:,}" for kind, n in sorted(without.items()))
        sentences.append(f"Without an answer, as a person's miss: {named}; d\u2032 is that of the answers given.")
    if found["first_option"] is not None:
        share = with_interval(found["first_option"], found["first_option_interval"])
        sentences.append(f"It named the word offered first in {share}; without a preference that is 0.5.")
    if not asking["is_repeatable"]:
        sentences.append("It runs on another's machine, and its answers cannot be reproduced.")
    return " ".join(sentences)
