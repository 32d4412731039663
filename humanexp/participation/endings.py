"""How a session ends: optional questions, the promised own curve, leaving by decision or want of time."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal, get_args

from django.db import transaction
from django.db.models import Max

from analysis.study.study import StudyConfiguration
from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest, SessionClosed
from humanexp.core.models import User, record
from humanexp.participation.answering import check_lease
from humanexp.participation.models import (
    FINISHED,
    ClosingAnswers,
    EarlierCurves,
    OwnCurve,
    Response,
    Session,
    SessionState,
    SetUp,
)
from humanexp.participation.openings import withdraw_session
from humanexp.participation.places import is_out_of_time
from humanexp.participation.sessions import SessionClaim, holding_slots, session_of
from humanexp.studies import permissions
from humanexp.studies.facts import KEPT_DAYS
from humanexp.studies.models import Action, Study

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
    session = session_of(claim)
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


def promise_curve(*, session: Session, compared_with: EarlierCurves | None) -> OwnCurve:
    """From the opening of a session on, its person will see their own curve after the last one."""
    return OwnCurve.objects.get_or_create(session=session, defaults={"compared_with": compared_with})[0]


def make_card(*, curve: OwnCurve) -> OwnCurve:
    """A card under an address that nobody can guess; who has one keeps it."""
    OwnCurve.objects.filter(pk=curve.pk, card_key=None).update(
        card_key=secrets.token_urlsafe(24), card_made_at=clock.now()
    )
    curve.refresh_from_db()
    return curve


def take_card_back(*, curve: OwnCurve) -> OwnCurve:
    """Its address leads nowhere from now on, and no later card has it again."""
    OwnCurve.objects.filter(pk=curve.pk).update(card_key=None, card_made_at=None)
    curve.refresh_from_db()
    return curve


#: A written reason is a sentence.
LONGEST_REASON = 500


@transaction.atomic
def leave_session(*, claim: SessionClaim, keeps_answers: bool = False, for_time: bool = False) -> Session:
    """Stop for good; the answers until then stay, or are taken back.

    `for_time`: the page says that the next round does not fit. The clock here decides: a page could say so of anybody.

    Taken back, no analysis sees an answer of it from now on, and in two weeks they are erased; twice is once.

    Until then it can be undone, in case it was not the participant who did this. That a session was begun, and how far
    it came, stays: the flow of participants counts it.
    """
    session = session_of(claim)
    if session.state == SessionState.WITHDRAWN:
        return session
    if keeps_answers:
        return _leave_answers(session, out_of_time=for_time and is_out_of_time(session))
    if session.state == SessionState.SUBMITTED:
        raise SessionClosed("It has been submitted. Write to the people who run the study to have it deleted.")
    return take_back(session=session)


def take_back(*, session: Session) -> Session:
    """No analysis sees an answer of it from now on, and they are erased once the time to undo it is over."""
    withdraw_session(session=session)
    due = (session.withdrawn_at or clock.now()) + timedelta(days=KEPT_DAYS)
    Session.objects.filter(pk=session.pk).update(last_seen_at=clock.now(), erase_after=due)
    session.refresh_from_db()
    return session


def _leave_answers(session: Session, *, out_of_time: bool) -> Session:
    """No window goes on with it, its slot is free again, and what is stored stays as after a closed window."""
    now = clock.now()
    Session.objects.filter(pk=session.pk, state=SessionState.OPEN, left_at=None).update(
        left_at=now, out_of_time=out_of_time, last_seen_at=now, lease="", handoff_nonce="", holds_slot=False
    )
    session.refresh_from_db()
    return session


@transaction.atomic
def undo_withdrawal(*, session: Session, by: User | None, reason: str) -> Session:
    """Make a withdrawn session what it was. Tokens that were given out for it are void: whoever withdrew it holds one.

    Where its slot was given to somebody else meanwhile, both have the plan's pictures of it; where its person has begun
    another session, it is counted after that one.
    """
    permissions.check(by, Action.REVIEW, session.study)
    reason = reason.strip()
    if not 1 <= len(reason) <= LONGEST_REASON:
        raise InvalidRequest(
            f"Write why this is undone, in at most {LONGEST_REASON} characters: it is kept in the record.",
            fields={"reason": f"1 to {LONGEST_REASON} characters"},
        )
    # All openings of a study wait here: a slot is not given away in between.
    Study.objects.select_for_update(of=("self",)).get(pk=session.study_id)
    session = Session.objects.select_for_update(of=("self",)).select_related("study").get(pk=session.pk)
    if session.state != SessionState.WITHDRAWN:
        raise Conflict(f"The session {session.code} is not withdrawn.")
    if session.erased_at is not None:
        raise Conflict(f"The answers of {session.code} were erased on {session.erased_at:%d %B %Y}: nothing is left.")
    others = Session.objects.exclude(pk=session.pk)
    number = session.number
    is_given_away = holding_slots(session.study).filter(slot=session.slot).exists()
    mine = others.filter(participant=session.participant_id).exclude(state=SessionState.WITHDRAWN)
    if mine.filter(number=number).exists():
        number = mine.aggregate(highest=Max("number"))["highest"] + 1
    marks: dict[str, Any] = {
        "holds_slot": session.holds_slot and not is_given_away,
        "number": number,
        "token_nonce": secrets.token_urlsafe(12),
        "lease": "",
        "withdrawn_at": None,
        "withdrawn_from": "",
        "erase_after": None,
    }
    before = SessionState(session.withdrawn_from or SessionState.OPEN)
    record(
        action="undo-withdrawal",
        subject=f"session:{session.code}",
        study=session.study.slug,
        by=by,
        reason=reason,
        state=before.value,
        slot_given_away=is_given_away,
    )
    Session.objects.filter(pk=session.pk).update(state=before, **marks)
    session.refresh_from_db()
    return session


def erase_withdrawn() -> dict[str, int]:
    """Erase what sessions hold whose time is over: answers, what was said at the end, all about device and sight."""
    due = Session.objects.filter(state=SessionState.WITHDRAWN, erased_at=None, erase_after__lte=clock.now())
    erased = {"sessions": 0, "answers": 0}
    for pk in list(due.values_list("pk", flat=True)):
        answers = _erase(pk)
        if answers is not None:
            erased = {"sessions": erased["sessions"] + 1, "answers": erased["answers"] + answers}
    return erased


@transaction.atomic
def _erase(pk: int) -> int | None:
    """How many answers; None where somebody undid the withdrawal meanwhile."""
    now = clock.now()
    session = Session.objects.select_for_update(of=("self",)).select_related("study").get(pk=pk)
    if session.state != SessionState.WITHDRAWN or session.erased_at or not session.erase_after:
        return None
    answers, _by_model = Response.objects.filter(session=session).delete()
    session.refused_calls.all().delete()
    ClosingAnswers.objects.filter(session=session).delete()
    SetUp.objects.filter(session=session).delete()
    OwnCurve.objects.filter(session=session).delete()
    Session.objects.filter(pk=pk).update(environment={}, active_s=None, erased_at=now)
    subject, study = f"session:{session.code}", session.study.slug
    record(action="erase-withdrawn", subject=subject, study=study, answers=answers)
    return answers
