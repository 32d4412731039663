"""The XML documents of a HIT and of a quiz that we send, and the answer that comes back from a stranger's browser."""

from __future__ import annotations

from xml.sax.saxutils import escape

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from analysis.spec.terms import Quiz, QuizQuestion

_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
_QUESTION = f"{_SCHEMAS}/2006-07-14/ExternalQuestion.xsd"
_FORM = f"{_SCHEMAS}/2017-11-06/QuestionForm.xsd"
_KEY = f"{_SCHEMAS}/2005-10-01/AnswerKey.xsd"


def external_question(*, url: str, frame_height_px: int) -> str:
    """A page of ours, shown in a frame; height 0 fills the window."""
    return (
        f'<ExternalQuestion xmlns="{_QUESTION}"><ExternalURL>{escape(url)}</ExternalURL>'
        f"<FrameHeight>{frame_height_px:d}</FrameHeight></ExternalQuestion>"
    )


def read_answers(xml: str) -> dict[str, str]:
    """Fields of a QuestionFormAnswers document; empty when it is broken or hostile (entities, external references)."""
    try:
        root = ElementTree.fromstring(xml)
    except (ElementTree.ParseError, DefusedXmlException, ValueError):
        return {}
    fields: dict[str, str] = {}
    for answer in root:
        # The namespace carries a date: match the local name.
        parts = {child.tag.rpartition("}")[2]: child.text or "" for child in answer}
        if "QuestionIdentifier" in parts:
            fields.setdefault(parts["QuestionIdentifier"], parts.get("FreeText", ""))
    return fields


def question_form(quiz: Quiz) -> str:
    """QuestionForm document."""
    questions = "".join(_question(number, question) for number, question in enumerate(quiz.questions))
    return f'<QuestionForm xmlns="{_FORM}">{questions}</QuestionForm>'


def answer_key(quiz: Quiz) -> str:
    """AnswerKey document: a point a right answer, told as a percentage."""
    points = "".join(
        f"<Question><QuestionIdentifier>q{number}</QuestionIdentifier><AnswerOption>"
        f"<SelectionIdentifier>{question.right}</SelectionIdentifier><AnswerScore>1</AnswerScore>"
        "</AnswerOption></Question>"
        for number, question in enumerate(quiz.questions)
    )
    return (
        f'<AnswerKey xmlns="{_KEY}">{points}<QualificationValueMapping><PercentageMapping>'
        f"<MaximumSummedScore>{len(quiz.questions)}</MaximumSummedScore>"
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
