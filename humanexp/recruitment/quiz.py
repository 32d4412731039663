"""A short quiz at the recruiter, graded there: its question form and its answer key. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from xml.sax.saxutils import escape

from humanexp.core.errors import InvalidRequest

_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
_FORM = f"{_SCHEMAS}/2017-11-06/QuestionForm.xsd"
_KEY = f"{_SCHEMAS}/2005-10-01/AnswerKey.xsd"


@dataclass(frozen=True, kw_only=True)
class QuizQuestion:
    text: str
    options: tuple[str, ...]
    #: place of the right option, from 0
    right: int

    def __post_init__(self) -> None:
        if not self.text.strip() or not 2 <= len(self.options) <= 20 or not all(map(str.strip, self.options)):
            raise InvalidRequest("A question of the quiz needs a text and two to twenty options.")
        if len(set(self.options)) != len(self.options) or not 0 <= self.right < len(self.options):
            raise InvalidRequest(f"The quiz: {self.text!r} needs different options, and one of them is the right one.")


@dataclass(frozen=True, kw_only=True)
class Quiz:
    """Multiple choice; the score is the percentage of right answers. A vision test runs in our own page instead."""

    questions: tuple[QuizQuestion, ...]
    pass_percent: int = 100
    minutes: int = 10
    #: None: one try for ever
    retry_after_s: int | None = None

    def __post_init__(self) -> None:
        if not self.questions or not 1 <= self.pass_percent <= 100 or not 1 <= self.minutes <= 60:
            raise InvalidRequest(
                "A quiz needs a question, a share to pass between 1 and 100 percent, and 1 to 60 minutes."
            )

    @property
    def digest(self) -> str:
        """Another quiz is another qualification."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Quiz:
        """Of a study file's `[recruitment.quiz]`, or a stored one."""
        try:
            questions = tuple(
                QuizQuestion(text=str(one["text"]), options=tuple(map(str, one["options"])), right=int(one["right"]))
                for one in values["questions"]
            )
            more = {name: values[name] for name in ("pass_percent", "minutes", "retry_after_s") if name in values}
            return cls(questions=questions, **more)
        except (KeyError, TypeError, ValueError) as err:
            raise InvalidRequest(
                "The quiz needs `questions`, each with `text`, `options` and `right` (the place of the right option)."
            ) from err

    def question_form(self) -> str:
        """QuestionForm document."""
        questions = "".join(_question(number, question) for number, question in enumerate(self.questions))
        return f'<QuestionForm xmlns="{_FORM}">{questions}</QuestionForm>'

    def answer_key(self) -> str:
        """AnswerKey document: a point a right answer, told as a percentage."""
        points = "".join(
            f"<Question><QuestionIdentifier>q{number}</QuestionIdentifier><AnswerOption>"
            f"<SelectionIdentifier>{question.right}</SelectionIdentifier><AnswerScore>1</AnswerScore>"
            "</AnswerOption></Question>"
            for number, question in enumerate(self.questions)
        )
        return (
            f'<AnswerKey xmlns="{_KEY}">{points}<QualificationValueMapping><PercentageMapping>'
            f"<MaximumSummedScore>{len(self.questions)}</MaximumSummedScore>"
            "</PercentageMapping></QualificationValueMapping></AnswerKey>"
        )


def _question(number: int, question: QuizQuestion) -> str:
    options = "".join(
        f"<Selection><SelectionIdentifier>{place}</SelectionIdentifier><Text>{escape(option)}</Text></Selection>"
        for place, option in enumerate(question.options)
    )
    return (
        f"<Question><QuestionIdentifier>q{number}</QuestionIdentifier><IsRequired>true</IsRequired>"
        f"<QuestionContent><Text>{escape(question.text)}</Text></QuestionContent><AnswerSpecification>"
        "<SelectionAnswer><StyleSuggestion>radiobutton</StyleSuggestion>"
        f"<Selections>{options}</Selections></SelectionAnswer></AnswerSpecification></Question>"
    )


def confirmation_form(text: str) -> str:
    """A question form with nothing to do but to confirm: the HIT that pays somebody who could not submit."""
    confirm = _question(0, QuizQuestion(text=text, options=("Yes, that was me.", "No, I know nothing of it."), right=0))
    return f'<QuestionForm xmlns="{_FORM}">{confirm}</QuestionForm>'
