"""The questions after the last trial, all of them optional, and which of their texts may leave the house."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from django.db import transaction

from analysis.study.study import StudyConfiguration
from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import InvalidRequest, SessionClosed
from humanexp.core.models import User
from humanexp.participation import selectors
from humanexp.participation.credentials import SessionClaim
from humanexp.participation.models import FINISHED, ClosingAnswers, Session
from humanexp.participation.services.answering import check_lease
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action

#: A page of text.
LONGEST_TEXT = 2000
#: Fields of the row, by the question that they answer.
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "problems": ("went_wrong", "problem"),
    "comments": ("comment",),
    "device": ("device",),
}
#: Texts that a person clears one by one.
Text = Literal["problem", "comment"]
#: How far the questions at the end of a session are.
Closing = Literal["none", "open", "given"]


def questions_of(study: Study) -> tuple[str, ...]:
    """Names of the questions that the study asks at the end."""
    return StudyConfiguration.from_dict(study.configuration).ending.questions


def closing_of(session: Session) -> Closing:
    """Whether its page asks them now, or Finish was pressed."""
    if session.state not in FINISHED:
        return "none"
    if ClosingAnswers.objects.filter(session=session).exists():
        return "given"
    return "open" if questions_of(session.study) else "none"


def open_questions(session: Session) -> tuple[str, ...]:
    """Those that its page still asks: none before the last answer, and none after Finish."""
    return questions_of(session.study) if closing_of(session) == "open" else ()


@transaction.atomic
def store_closing_answers(*, claim: SessionClaim, lease: str, given: Mapping[str, str]) -> None:
    """Store what was said at the end; the first time counts, and saying nothing is an answer, too."""
    session = selectors.session_of(claim)
    check_lease(session, lease)
    if session.state not in FINISHED:
        raise SessionClosed("The questions at the end come after the last trial.")
    if closing_of(session) == "given":
        return
    asked = {field for question in questions_of(session.study) for field in _FIELDS[question]}
    for field, value in given.items():
        if value and field not in asked:
            raise InvalidRequest("The study does not ask this.", fields={field: "is not asked"})
    if not asked:
        raise InvalidRequest("The study asks nothing at the end.")
    said = {field: value.strip() for field, value in given.items()}
    ClosingAnswers.objects.get_or_create(session=session, defaults={**said, "given_at": clock.now()})


@transaction.atomic
def clear_text(*, session: Session, text: str, is_cleared: bool, by: User) -> ClosingAnswers:
    """Let exports have a text, or not any more: whoever read it says that it names no person."""
    permissions.check(by, Action.REVIEW, session.study)
    if text not in get_args(Text):
        raise InvalidRequest("There is no such text.", fields={"text": f"one of {', '.join(get_args(Text))}"})
    answers = ClosingAnswers.objects.select_for_update(of=("self",)).get(session=session)
    setattr(answers, f"{text}_cleared_at", clock.now() if is_cleared else None)
    answers.save(update_fields=[f"{text}_cleared_at"])
    action = "clear-comment" if is_cleared else "hold-comment"
    record(action=action, subject=f"session:{session.code}", study=session.study.slug, by=by, text=text)
    return answers
