"""Answers as they come in, what is put on record of them, and what follows: a next round, or a request to slow down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, Q

from analysis.acceptance.rules import needed_of, qualification_rule
from analysis.tables.trials import TIMING_COLUMNS
from analysis.timing.rules import TIMING_RULE, is_set_aside, timing_ok
from humanexp.core import clock, metrics
from humanexp.core.connections import write_turn
from humanexp.core.errors import (
    InvalidRequest,
    LeaseLost,
    OutOfOrder,
    PictureDamaged,
    SessionClosed,
    TokenRefused,
    TooFast,
    TooManyCalls,
)
from humanexp.core.limits import Allowance
from humanexp.jobs import services as jobs
from humanexp.participation import presentation
from humanexp.participation.models import Preview, RefusalReason, RefusedCall, Response, Session, SessionState, Trial
from humanexp.participation.presentation import (
    Course,
    PlannedTrial,
    asks_to_slow_down,
    course_of,
    is_restored,
    not_shown,
)
from humanexp.participation.sessions import SessionClaim, session_of, standing_of

KIND = "qualification"


class NextRound(NamedTuple):
    """Where a session goes on after a round, and what is known of it by then; None where that is open."""

    cursor: int
    qualified: bool | None = None
    practised: bool | None = None

    @property
    def known(self) -> dict[str, bool]:
        """What is not open any more, as fields of a session."""
        found = {"qualified": self.qualified, "practised": self.practised}
        return {name: value for name, value in found.items() if value is not None}


def can_be_passed(block: Mapping[str, Any]) -> bool:
    """Whether the answers of the block decide how the session goes on."""
    return block["kind"] == KIND or "needed" in block


def after_answer(*, trial: Trial, cursor: int) -> int:
    """Where the session goes on after a stored answer; part of the transaction that stores it."""
    blocks = trial.session.blocks
    if not ends_round(blocks, trial.block, cursor):
        return cursor
    right = Response.objects.filter(session=trial.session, trial__block=trial.block, correct=True).count()
    standing = after_round(blocks, trial.block, rule_set=trial.session.study.rule_set, right=right)
    if not standing.known:
        return cursor
    Session.objects.filter(pk=trial.session_id, cursor=cursor).update(cursor=standing.cursor, **standing.known)
    return standing.cursor


def ends_round(blocks: Sequence[Mapping[str, Any]], index: int, cursor: int) -> bool:
    """Whether the answer before the cursor was the last one of a round that can be passed."""
    return bool(can_be_passed(blocks[index]) and cursor > blocks[index]["last"])


def after_round(
    blocks: Sequence[Mapping[str, Any]], index: int, *, rule_set: Mapping[str, Any], right: int
) -> NextRound:
    """Where a session goes on after a round with so many right answers, and what is known of it then."""
    block = blocks[index]
    following, end = block["last"] + 1, blocks[-1]["last"] + 1
    later = [other for other in blocks[index + 1 :] if can_be_passed(other) and _are_alike(block, other)]
    past = later[-1]["last"] + 1 if later else following
    if block["kind"] == KIND:
        settings = qualification_rule(rule_set)
        if settings is None:
            return NextRound(following)
        if right >= needed_of(block["last"] - block["first"] + 1, settings.pass_of):
            return NextRound(past, qualified=True)
        return NextRound(following) if later else NextRound(end, qualified=False)
    if right >= block["needed"]:
        return NextRound(past, practised=True)
    # Not qualified either: whoever could not practise holds no place of the study.
    return NextRound(following) if later else NextRound(end, qualified=False, practised=False)


def _are_alike(block: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(block["kind"] == other["kind"] and block["task"] == other["task"])


def after_block(*, session_id: int, blocks: list[int], under_ms: float, cursor: int) -> None:
    """Decide before the block at the cursor whether its page asks; part of the transaction that stores an answer."""
    timed = Response.objects.filter(session_id=session_id, trial__block__in=blocks, rt_ms__isnull=False)
    counts = timed.exclude(set_aside=True).aggregate(all=Count("pk"), fast=Count("pk", filter=Q(rt_ms__lt=under_ms)))
    if asks_to_slow_down(fast=counts["fast"], answered=counts["all"]):
        Session.objects.filter(pk=session_id, slow_down_at=None).update(slow_down_at=cursor)


#: Calls of one session. A block is fetched at once, so the bucket is deep: 300 trials with all their pictures.
CALLS = Allowance(per_s=40, burst=1000)
#: Refused tokens and codes of one address; after that its refusals are neither told apart nor recorded.
REFUSALS = Allowance(per_s=0.5, burst=30)
#: Entries of one session, and of all calls together that belong to none: nobody fills the disk with forged calls.
ENTRIES = Allowance(per_s=0.1, burst=100)
#: Newest entries that are kept of one session, and of all calls together that belong to none.
KEPT = 1000


def check_rate(*, claim: SessionClaim) -> None:
    """Refuse a session that calls more often than any page does; scripted ones may."""
    wait_s = CALLS.spend(claim)
    if wait_s and not course_of(claim).is_scripted:
        raise TooManyCalls(retry_after_s=wait_s)


def refused(*, error: TokenRefused | TooManyCalls, call: str, caller: str, session_id: int | None) -> float:
    """Record a refusal; the seconds for which this caller is not listened to any more, 0.0 if it is."""
    wait_s = REFUSALS.spend(caller)
    if wait_s:
        return wait_s
    match error:
        case TokenRefused():
            reason, session_id = RefusalReason(error.reason), error.session_id or session_id
        case TooFast():
            reason = RefusalReason.TOO_FAST
        case TooManyCalls():
            reason = RefusalReason.TOO_MANY
    record(reason=reason, call=call, caller=caller, session_id=session_id)
    return 0.0


def record(*, reason: RefusalReason, call: str, caller: str, session_id: int | None) -> None:
    """An audit entry, while there are not too many of them; old ones make room."""
    if session_id is not None and not Session.objects.filter(pk=session_id).exists():
        session_id = None
    if ENTRIES.spend(session_id):
        return
    with write_turn():
        RefusedCall.objects.create(at=clock.now(), reason=reason, call=call[:40], caller=caller, session_id=session_id)
        entries = RefusedCall.objects.filter(Q(session=session_id))
        oldest = entries.order_by("-pk").values_list("pk", flat=True)[KEPT - 1 : KEPT]
        entries.filter(pk__lt=min(oldest, default=0)).delete()


_CLOSED = (SessionState.SUBMITTED, SessionState.WITHDRAWN)


@dataclass(frozen=True, kw_only=True)
class StoredAnswer:
    """What is stored for a position, now or since before."""

    position: int
    cursor: int
    #: what is stored, which may be another answer than the one that came now
    response: str
    correct: bool | None
    correct_response: str
    #: whether the participant is told
    has_feedback: bool
    is_new: bool


def take_lease(*, claim: SessionClaim, lease: str) -> str:
    """Make one browser tab the owner of the session; every other tab is refused from now on."""
    session = session_of(claim)
    if session.state in _CLOSED or session.left_at is not None:
        raise SessionClosed
    # Never back: that it lies ahead tells that the clock was set back.
    seen = max(clock.now(), session.last_seen_at or session.opened_at)
    Session.objects.filter(pk=session.pk, token_nonce=claim.nonce).update(lease=lease, last_seen_at=seen)
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
    course = course_of(claim)
    trial = course.trial(position)
    check_answer(course, trial, response, simulated)
    record = {name: value for name, value in (timing or {}).items() if name in TIMING_COLUMNS and value is not None}
    now = clock.now()
    try:
        with write_turn():
            moved = _advance(claim, lease, course, trial, now)
            if not moved and any((_was_set_back(course, trial, now), is_restored(trial))):
                moved = _advance(claim, lease, course, trial, now)
            if moved:
                correct = trial.judge(response)
                aside = is_set_aside(record) if trial.task.is_timed else None
                Response.objects.create(
                    session_id=course.session_id,
                    trial_id=trial.pk,
                    position=position,
                    response=response,
                    correct=correct,
                    rt_ms=rt_ms,
                    clicks=list(clicks),
                    timing=record,
                    # Of a trial that nobody attended to there is no timing to be judged.
                    timing_ok=None if aside else timing_ok(record),
                    timing_rule=TIMING_RULE,
                    set_aside=aside,
                    input_kind=_input_kind(response, clicks),
                    is_scripted=course.is_scripted,
                    received_at=now,
                )
                transaction.on_commit(metrics.ANSWERS.inc)
                cursor = position + 1
                if blocks := course.measured_before(cursor):
                    after_block(session_id=course.session_id, blocks=blocks, under_ms=course.too_fast_ms, cursor=cursor)
                if can_be_passed(course.blocks[trial.block]):
                    row = Trial.objects.select_related("session__study").get(pk=trial.pk)
                    cursor = after_answer(trial=row, cursor=cursor)
                return answer_of(course, trial, response, correct, cursor=cursor, is_new=True)
    except IntegrityError:
        # Stored already although the cursor stood here: the row is the truth, the cursor follows it.
        Session.objects.filter(pk=course.session_id, cursor=position).update(cursor=position + 1)
    return _stored_before(claim, lease, course, trial, now)


def _advance(claim: SessionClaim, lease: str, course: Course, trial: PlannedTrial, now: datetime) -> bool:
    """Move the cursor past the trial, if it stands there and everything allows it; False otherwise."""
    place = {"pk": course.session_id, "cursor": trial.position}
    due = Session.objects.filter(**place, token_nonce=claim.nonce, state=SessionState.OPEN, lease=lease or None)
    if not course.is_scripted and presentation.SHARE:
        latest = now - timedelta(seconds=presentation.SHARE * trial.not_before_s)
        due = due.filter(Q(block_began_at__lte=latest) | Q(block_began_at=None))
    due = due.exclude(Exists(not_shown(trial)))
    changes: dict[str, Any] = {"cursor": trial.position + 1, "last_seen_at": now}
    if course.begins_block(trial.position + 1):
        changes["block_began_at"] = now
    if trial.position == course.counts_from:
        changes["confirmed_at"] = now
    return bool(due.order_by().update(**changes))


def _input_kind(response: str, clicks: Sequence[Mapping[str, Any]]) -> str:
    """What gave the answer that counts; empty where none was given, or its click was not kept."""
    counted = [click["input"] for click in clicks if click["choice"] == response]
    return str(counted[-1]) if counted else ""


def _was_set_back(course: Course, trial: PlannedTrial, now: datetime) -> bool:
    """Whether the clock was set back since this session was last seen; its block is then timed anew, from this trial.

    Nobody waits until the clock has caught up. Who answers gains one trial's pictures by it at most, and no participant
    sets the server's clock.
    """
    due = now - timedelta(seconds=presentation.SHARE * trial.not_before_s)
    ahead = Session.objects.filter(pk=course.session_id, cursor=trial.position).filter(
        Q(last_seen_at__gt=now) | Q(block_began_at__gt=now)
    )
    return bool(ahead.order_by().update(block_began_at=due, last_seen_at=now))


def check_answer(course: Course, trial: PlannedTrial, response: str, simulated: bool) -> None:
    if not trial.takes(response, course.space):
        raise InvalidRequest(
            "This is not one of the possible answers.", fields={"response": f"{response!r} is not a choice"}
        )
    if simulated != course.is_scripted:
        raise InvalidRequest(
            "Simulated and real answers never mix in one session.", fields={"simulated": "does not fit the session"}
        )


def _stored_before(claim: SessionClaim, lease: str, course: Course, trial: PlannedTrial, now: datetime) -> StoredAnswer:
    """The answer that is stored, or why none was stored now."""
    session = standing_of(claim)
    if session.state == SessionState.WITHDRAWN:
        raise SessionClosed  # the answers are hidden until they are erased
    check_lease(session, lease)
    stored = Response.objects.filter(session_id=course.session_id, position=trial.position).first()
    if stored is not None:
        return answer_of(course, trial, stored.response, stored.correct, cursor=session.cursor, is_new=False)
    _check_open(session)
    if not_shown(trial).exists():
        raise PictureDamaged
    if session.cursor == trial.position and session.block_began_at is not None:
        due = session.block_began_at + timedelta(seconds=presentation.SHARE * trial.not_before_s)
        raise TooFast(retry_after_s=max(0.0, (due - now).total_seconds()))
    raise OutOfOrder(fields={"cursor": str(session.cursor)})


def check_lease(session: Session | Preview, lease: str) -> None:
    """Refuse a tab that does not own the session."""
    if not lease or session.lease != lease:
        raise LeaseLost


def _check_open(session: Session) -> None:
    if session.state != SessionState.OPEN:
        raise SessionClosed


def answer_of(
    course: Course, trial: PlannedTrial, response: str, correct: bool | None, *, cursor: int, is_new: bool
) -> StoredAnswer:
    return StoredAnswer(
        position=trial.position,
        cursor=cursor,
        response=response,
        correct=correct,
        correct_response=trial.correct_response,
        has_feedback=course.blocks[trial.block]["feedback"],
        is_new=is_new,
    )


def complete(*, claim: SessionClaim, lease: str, environment: Mapping[str, Any]) -> Session:
    """Close a session whose every trial is answered, and have it judged; asked again, nothing changes."""
    session = session_of(claim)
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


def picture_trials(*, claim: SessionClaim, lease: str, positions: Sequence[int]) -> tuple[Course, list[PlannedTrial]]:
    """The trials at these positions, if the pictures of all of them may be fetched now."""
    session = standing_of(claim)
    check_lease(session, lease)
    _check_open(session)
    course = course_of(claim)
    return course, course.fetchable(positions, session.cursor)
