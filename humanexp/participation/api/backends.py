"""Where a call of the participant API goes: its bearer token, no cookie, names a session, or a preview of a researcher.

What callers without a right token are refused is recorded and kept short.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from humanexp.core.errors import TokenRefused, TooManyCalls
from humanexp.core.limits import caller_of
from humanexp.participation import presentation, previews, sessions
from humanexp.participation.answering import StoredAnswer, complete, picture_trials, refused, store_response, take_lease
from humanexp.participation.endings import Closing, closing_of, leave_session, open_questions, store_closing_answers
from humanexp.participation.models import FINISHED, Session
from humanexp.participation.openings import Exchanged, exchange_handoff, look_behind, receipt_for
from humanexp.participation.own_curves import own_result_address
from humanexp.participation.presentation import Course, PlannedTrial, note_fetched
from humanexp.participation.sessions import Seal, SessionClaim, session_of
from humanexp.participation.set_ups import store_set_up


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
    code = {"completion_code": sessions.completion_code(session.code)}
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
    show=presentation.show,
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
    exchange_handoff=previews.exchange_handoff,
    look_behind=previews.look_behind,
    session_of=previews.session_of,
    take_lease=previews.take_lease,
    picture_trials=previews.picture_trials,
    show=previews.show,
    note_fetched=lambda **_: None,
    store_response=previews.store_response,
    complete=previews.complete,
    open_questions=previews.open_questions,
    closing_of=lambda session: "none",
    own_result=lambda session: "",
    store_closing_answers=lambda **_: None,
    store_set_up=lambda **_: None,
    leave_session=previews.leave_session,
    proofs=previews.proofs,
)


class SessionTokenAuthentication(BaseAuthentication):
    """Reads the claim of `Authorization: Bearer <token>`; the row's nonce is compared by the query that reads it."""

    #: what tokens are sealed with
    seal: Seal[Any] = sessions.TOKEN

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Any]:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise TokenRefused
        return AnonymousUser(), self.seal.read(token.strip())

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class PreviewTokenAuthentication(SessionTokenAuthentication):
    """A session's token is none here, and the other way round: the two are signed differently."""

    seal = sessions.PREVIEW_TOKEN


class HoldsToken(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.auth is not None


class SessionTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = SessionTokenAuthentication
    name = "sessionToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class AuditedView(APIView):
    """The reply to a refused token says the same whatever is wrong with it; the audit knows."""

    def handle_exception(self, error: Exception) -> Response:
        wait_s = 0.0
        if isinstance(error, TokenRefused | TooManyCalls):
            wait_s = refused(error=error, **self.caller())
            if isinstance(error, TooManyCalls):
                wait_s = max(wait_s, error.retry_after_s)
            elif wait_s:
                error = TooManyCalls()
        response: Response = super().handle_exception(error)
        if wait_s:
            response["Retry-After"] = str(max(1, math.ceil(wait_s)))
        return response

    def caller(self) -> dict[str, Any]:
        """For the audit: which call, from where, and the session where the token's signature was good."""
        auth = getattr(self.request, "_auth", None)  # not `auth`: that would read the token again
        match = self.request.resolver_match
        return {
            "call": (match.url_name or "") if match else "",
            "caller": caller_of(self.request),
            "session_id": auth.session_id if isinstance(auth, SessionClaim) else None,
        }
