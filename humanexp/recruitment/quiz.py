"""A short quiz at the recruiter, graded there: its question form and its answer key. Pure."""

from __future__ import annotations

from xml.sax.saxutils import escape

from analysis.spec.terms import Quiz, QuizQuestion

_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
_FORM = f"{_SCHEMAS}/2017-11-06/QuestionForm.xsd"
_KEY = f"{_SCHEMAS}/2005-10-01/AnswerKey.xsd"


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
