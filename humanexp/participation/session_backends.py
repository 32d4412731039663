"""What the participant API needs of whoever keeps a sitting: sessions do, and previews of researchers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from humanexp.participation import credentials
from humanexp.participation.models import FINISHED, Session
from humanexp.participation.selectors.own_results import own_result_address
from humanexp.participation.selectors.sessions import session_of
from humanexp.participation.services import previewing, showing
from humanexp.participation.services.answering import StoredAnswer, complete, picture_trials, store_response, take_lease
from humanexp.participation.services.leaving import (
    Closing,
    closing_of,
    leave_session,
    open_questions,
    store_closing_answers,
)
from humanexp.participation.services.sessions import Exchanged, exchange_handoff, look_behind, receipt_for
from humanexp.participation.services.setting_up import store_set_up
from humanexp.participation.services.showing import note_fetched
from humanexp.participation.session_cache import Course, PlannedTrial


@dataclass(frozen=True, kw_only=True)
class Sittings:
    """One function for each call; every one takes the claim of its own kind of token."""

    exchange_handoff: Callable[..., Exchanged]
    look_behind: Callable[..., list[str]]
    session_of: Callable[[Any], Session]
    take_lease: Callable[..., str]
    picture_trials: Callable[..., tuple[Course, list[PlannedTrial]]]
    #: pictures of trials, checked against what was made
    show: Callable[..., list[list[bytes]]]
    #: says that the pictures of some trials go out now
    note_fetched: Callable[..., None]
    store_response: Callable[..., StoredAnswer]
    complete: Callable[..., Session]
    #: the questions that the page still asks at the end
    open_questions: Callable[[Session], Sequence[str]]
    #: what the address of the participant's own result says; empty: there is none
    own_result: Callable[[Session], str]
    closing_of: Callable[[Session], Closing]
    store_closing_answers: Callable[..., None]
    store_set_up: Callable[..., object]
    leave_session: Callable[..., Session]
    #: what a finished participant can show
    proofs: Callable[[Session], dict[str, str]]


def _proofs(session: Session) -> dict[str, str]:
    """The receipt says that every answer is stored; whoever ran out of time can only be found by the code."""
    code = {"completion_code": credentials.completion_code(session.code)}
    if session.state in FINISHED:
        return {"receipt": receipt_for(session=session), **code}
    return code if session.out_of_time else {}


#: Participants' sessions.
STORED = Sittings(
    exchange_handoff=exchange_handoff,
    look_behind=look_behind,
    session_of=session_of,
    take_lease=take_lease,
    picture_trials=picture_trials,
    show=showing.show,
    note_fetched=note_fetched,
    store_response=store_response,
    complete=complete,
    open_questions=open_questions,
    closing_of=closing_of,
    own_result=own_result_address,
    store_closing_answers=store_closing_answers,
    store_set_up=store_set_up,
    leave_session=leave_session,
    proofs=_proofs,
)

#: Previews: nothing is stored.
PREVIEWED = Sittings(
    exchange_handoff=previewing.exchange_handoff,
    look_behind=previewing.look_behind,
    session_of=previewing.session_of,
    take_lease=previewing.take_lease,
    picture_trials=previewing.picture_trials,
    show=previewing.show,
    note_fetched=lambda **_: None,
    store_response=previewing.store_response,
    complete=previewing.complete,
    open_questions=previewing.open_questions,
    closing_of=lambda session: "none",
    own_result=lambda session: "",
    store_closing_answers=lambda **_: None,
    store_set_up=lambda **_: None,
    leave_session=previewing.leave_session,
    proofs=previewing.proofs,
)
