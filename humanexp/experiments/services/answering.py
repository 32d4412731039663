from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F

from analysis.tables import TIMING_COLUMNS
from analysis.timing import TIMING_RULE, timing_ok
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest, LeaseLost, NotFound, OutOfOrder, SessionClosed
from humanexp.experiments import selectors
from humanexp.experiments.credentials import SessionClaim
from humanexp.experiments.models import Response, Session, SessionState, Trial
from humanexp.experiments.services import qualifying
from humanexp.experiments.tasks import TASKS
from humanexp.jobs import services as jobs

_CLOSED = (SessionState.SUBMITTED, SessionState.WITHDRAWN)


@dataclass(frozen=True, kw_only=True)
class StoredAnswer:
    """What is stored for a position, now or since before."""

    position: int
    cursor: int
    correct: bool | None
    correct_response: str
    #: whether the participant is told
    has_feedback: bool
    is_new: bool


def take_lease(*, claim: SessionClaim, lease: str) -> str:
    """Make one browser tab the owner of the session; every other tab is refused from now on."""
    session = selectors.session_of(claim)
    if session.state in _CLOSED:
        raise SessionClosed
    Session.objects.filter(pk=session.pk, token_nonce=claim.nonce).update(lease=lease, last_seen_at=clock.now())
    return lease


def store_response(
    *,
    claim: SessionClaim,
    lease: str,
    position: int,
    response: str,
    rt_ms: float | None = None,
    clicks: Sequence[Mapping[str, Any]] = (),
    timing: Mapping[str, Any] | None = None,
    simulated: bool = False,
) -> StoredAnswer:
    """Store one answer, exactly once: the cursor moves and the row is written together, or neither.

    The same position again changes nothing and gives back what is stored.
    """
    trial = selectors.trial_of(claim, position)
    _check(trial, response, simulated)
    record = {name: value for name, value in (timing or {}).items() if name in TIMING_COLUMNS and value is not None}
    now = clock.now()
    try:
        with transaction.atomic():
            moved = Session.objects.filter(
                pk=trial.session_id,
                token_nonce=claim.nonce,
                state=SessionState.OPEN,
                lease=lease or None,
                cursor=position,
            ).update(cursor=F("cursor") + 1, last_seen_at=now)
            if moved:
                stored = Response.objects.create(
                    session_id=trial.session_id,
                    trial=trial,
                    position=position,
                    response=response,
                    correct=TASKS[trial.task].judge(response, trial.correct_response),
                    rt_ms=rt_ms,
                    clicks=list(clicks),
                    timing=record,
                    timing_ok=timing_ok(record),
                    timing_rule=TIMING_RULE,
                    is_scripted=trial.session.is_scripted,
                    received_at=now,
                )
                cursor = qualifying.after_answer(trial=trial, cursor=position + 1)
                return _answer(trial, stored, cursor=cursor, is_new=True)
    except IntegrityError:
        # Stored already although the cursor stood here: the row is the truth, the cursor follows it.
        Session.objects.filter(pk=trial.session_id, cursor=position).update(cursor=position + 1)
    return _stored_before(claim, lease, trial)


def _check(trial: Trial, response: str, simulated: bool) -> None:
    if not TASKS[trial.task].accepts(response):
        raise InvalidRequest(
            "This is not one of the possible answers.", fields={"response": f"{response!r} is not a choice"}
        )
    if simulated != trial.session.is_scripted:
        raise InvalidRequest(
            "Simulated and real answers never mix in one session.", fields={"simulated": "does not fit the session"}
        )


def _stored_before(claim: SessionClaim, lease: str, trial: Trial) -> StoredAnswer:
    """The answer that is stored, or why none was stored now."""
    session = selectors.session_of(claim)
    check_lease(session, lease)
    stored = Response.objects.filter(session=session, position=trial.position).first()
    if stored is not None:
        return _answer(trial, stored, cursor=session.cursor, is_new=False)
    check_open(session)
    raise OutOfOrder(fields={"cursor": str(session.cursor)})


def check_lease(session: Session, lease: str) -> None:
    """Refuse a tab that does not own the session."""
    if not lease or session.lease != lease:
        raise LeaseLost


def check_open(session: Session) -> None:
    if session.state != SessionState.OPEN:
        raise SessionClosed


def _answer(trial: Trial, stored: Response, *, cursor: int, is_new: bool) -> StoredAnswer:
    block = trial.session.blocks[trial.block]
    return StoredAnswer(
        position=stored.position,
        cursor=cursor,
        correct=stored.correct,
        correct_response=trial.correct_response,
        has_feedback=block["feedback"],
        is_new=is_new,
    )


def complete(*, claim: SessionClaim, lease: str, environment: Mapping[str, Any]) -> Session:
    """Close a session whose every trial is answered, and have it judged; asked again, nothing changes."""
    session = selectors.session_of(claim)
    check_lease(session, lease)
    with transaction.atomic():
        closed = Session.objects.filter(
            pk=session.pk, state=SessionState.OPEN, lease=lease, cursor=F("total"), token_nonce=claim.nonce
        ).update(state=SessionState.COMPLETED, completed_at=clock.now(), environment=dict(environment))
        if closed:
            jobs.submit("screening.judge", subject=f"session:{session.code}", session_id=session.pk)
    session.refresh_from_db()
    if session.state == SessionState.WITHDRAWN:
        raise SessionClosed
    if session.state == SessionState.OPEN:
        check_lease(session, lease)
        left = session.total - session.cursor
        raise OutOfOrder(
            f"{left} of {session.total} trials are not answered yet.", fields={"cursor": str(session.cursor)}
        )
    return session


def picture_trial(*, claim: SessionClaim, lease: str, position: int, with_rows: Sequence[str]) -> Trial:
    """The trial at a position, if its pictures may be fetched now: unanswered, and in the block of the cursor."""
    trial = selectors.trial_of(claim, position, *with_rows)
    session = trial.session
    check_lease(session, lease)
    check_open(session)
    if position < session.cursor or session.blocks[trial.block]["first"] > session.cursor:
        raise NotFound
    return trial
