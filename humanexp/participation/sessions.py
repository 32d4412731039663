"""Sessions as they are read: the secrets that open them, which of them count, and how long people worked in them.

Nothing that the working time depends on changes after the last answer. What a job has not kept yet is measured when it
is asked for; where the definition changes, a migration empties the column.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.core import signing
from django.db.models import Count, Q, QuerySet

from analysis.study.protocol import ProtocolConfig
from humanexp.core import clock
from humanexp.core.clock import Epoch
from humanexp.core.errors import TokenRefused
from humanexp.core.names import pseudonym
from humanexp.participation.models import FINISHED, Response, Session, SessionState, counting
from humanexp.studies.facts import work_ms
from humanexp.studies.models import Protocol, Study
from humanexp.studies.tasks import TASKS

#: Longer than any assignment lasts.
TOKEN_MAX_AGE_S = 7 * 24 * 3600
HANDOFF_MAX_AGE_S = 60
#: A preview is swept at this age.
PREVIEW_MAX_AGE_S = 12 * 3600
#: Rows' keys are below this; a database refuses to look for a larger one.
_KEYS = 2**63
Claim = TypeVar("Claim")


@dataclass(frozen=True)
class SessionClaim:
    """What a token says: a session, and the nonce that its row must still hold."""

    session_id: int
    nonce: str


@dataclass(frozen=True)
class HandoffClaim:
    """What a hand-off code says."""

    session_id: int
    nonce: str
    #: under which name the browser keeps the resume secret; empty: not beyond its window
    keep_as: str

    @classmethod
    def read(cls, session_id: int, said: str) -> HandoffClaim:
        nonce, _, keep_as = said.partition(" ")
        return cls(session_id, nonce, keep_as)


@dataclass(frozen=True)
class PreviewClaim:
    """What the token of a preview says; it is no claim to a session, and a session's token none to a preview."""

    preview_id: int
    nonce: str


@dataclass(frozen=True)
class Seal(Generic[Claim]):
    """One kind of credential: signed under a name of its own, so that none passes for another."""

    salt: str
    claim: Callable[[int, str], Claim]
    max_age_s: int | None

    def sign(self, key: int, said: str) -> str:
        return signing.dumps([key, said], salt=self.salt, compress=False)

    def read(self, text: str) -> Claim:
        try:
            content: Any = signing.loads(text, salt=self.salt, max_age=self.max_age_s)
        except signing.SignatureExpired as error:
            raise TokenRefused(reason="expired") from error
        except (signing.BadSignature, ValueError) as error:
            raise TokenRefused from error
        match content:
            case [int(key), str(said)] if 0 < key < _KEYS and "\x00" not in said:
                return self.claim(key, said)
        raise TokenRefused


TOKEN = Seal("humanexp.session-token", SessionClaim, TOKEN_MAX_AGE_S)
#: The nonce, a space, and under which name the resume secret is kept.
HANDOFF = Seal("humanexp.hand-off", HandoffClaim.read, HANDOFF_MAX_AGE_S)
#: What a browser keeps to get a token anew; good until the nonce of the session's row is changed.
RESUME_SECRET = Seal("humanexp.resume-secret", SessionClaim, None)
#: In the address of a participant's own result; how long it works is counted from the end of the session.
OWN_RESULT = Seal("humanexp.own-result", SessionClaim, None)
PREVIEW_TOKEN = Seal("humanexp.preview-token", PreviewClaim, PREVIEW_MAX_AGE_S)
PREVIEW_HANDOFF = Seal("humanexp.preview-hand-off", PreviewClaim, HANDOFF_MAX_AGE_S)


def receipt(session_code: str) -> str:
    """Proof that all answers of a session are stored; the recruiter's form carries it."""
    return next(_receipts(session_code))


def receipt_is_valid(session_code: str, given: str) -> bool:
    return any(hmac.compare_digest(known.encode(), given.strip().encode()) for known in _receipts(session_code))


def completion_code(session_code: str) -> str:
    """The same proof, short enough to be typed by hand or read out."""
    return next(completion_codes(session_code))


def completion_codes(session_code: str) -> Iterator[str]:
    """The code of a session, and those that were given out under earlier keys."""
    for key in _keys():
        yield pseudonym(key, "completion", session_code, prefix="C", length=8)


def _receipts(session_code: str) -> Iterator[str]:
    for key in _keys():
        yield hmac.new(f"receipt:{key}".encode(), session_code.encode(), sha256).hexdigest()


def _keys() -> list[str]:
    """The present key first; receipts given out under an earlier one stay good while it is among the fallbacks."""
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


#: A longer silence than this is a break; the first one holds the instructions and may be longer.
LONGEST_STEP_S, LONGEST_READING_S = 60.0, 600.0


def minutes_of(kept: Mapping[int, float | None]) -> dict[int, float]:
    """Minutes from opening to the last answer without the breaks, by primary key.

    From the seconds that are kept beside finished sessions; what is not kept is measured.
    """
    seconds = {pk: active_s for pk, active_s in kept.items() if active_s is not None}
    seconds |= measured([pk for pk, active_s in kept.items() if active_s is None])
    return {pk: active_s / 60 for pk, active_s in seconds.items()}


def unmeasured() -> QuerySet[Session]:
    """Finished sessions whose working time is not kept yet."""
    return Session.objects.filter(completed_at__isnull=False, active_s=None, state__in=FINISHED)


def measured(sessions: Collection[int]) -> dict[int, float]:
    """Seconds of work of these sessions, by primary key; of those with answers."""
    if not sessions:
        return {}
    rows = Session.objects.filter(pk__in=sessions).order_by()
    opened = {pk: (shown, at) for pk, shown, at in rows.values_list("pk", "study__protocol", Epoch("opened_at"))}
    shown = Protocol.objects.in_bulk({pk for pk, _ in opened.values() if pk is not None})
    protocols = {pk: ProtocolConfig.from_dict(one.configuration) for pk, one in shown.items()}
    answers = Response.objects.filter(session__in=list(opened)).order_by("session_id", "received_at", "position")
    seconds = {}
    columns = answers.values_list("session_id", Epoch("received_at"), "trial__task", "rt_ms").iterator()
    for pk, group in groupby(columns, key=itemgetter(0)):
        protocol, opened_s = protocols.get(opened[pk][0]), opened[pk][1]
        answered = [(at, work_ms(TASKS[task], protocol, rt_ms) / 1000) for _, at, task, rt_ms in group]
        seconds[pk] = _active_s(opened_s, answered)
    return seconds


def _active_s(opened_s: float, answers: Sequence[tuple[float, float]]) -> float:
    """Of answers, each with its arrival and the seconds that its trial took at least.

    Answers that waited for the network arrive in a burst: the work on them lies in the silence before it, which is then
    no break for as long as they took. Never longer than from the opening to the last arrival.
    """
    moments = [opened_s, *(at for at, _ in answers)]
    silences = [max(0.0, after - before) for before, after in pairwise(moments)]
    total = unplaced_s = 0.0
    for place in reversed(range(len(answers))):
        unplaced_s += answers[place][1]
        longest_s = LONGEST_STEP_S if place else LONGEST_READING_S
        total += min(silences[place], max(longest_s, unplaced_s))
        unplaced_s = max(0.0, unplaced_s - silences[place])
    return total


def session_for_token(token: str) -> Session:
    """The session that a bearer token stands for; refuses forged, expired and revoked ones."""
    return session_of(TOKEN.read(token))


#: The way to the labels of a study.
_LABELS = "study__stimulus_set__source_set__labels"


def session_of(claim: SessionClaim) -> Session:
    return _claimed(Session.objects.select_related("study__protocol", _LABELS), claim)


def standing_of(claim: SessionClaim) -> Session:
    """What changes about a session, of one row by its key: the call that everybody makes all the time."""
    return _claimed(Session.objects.only("state", "cursor", "lease", "block_began_at"), claim)


def _claimed(sessions: QuerySet[Session], claim: SessionClaim) -> Session:
    session = sessions.filter(pk=claim.session_id, token_nonce=claim.nonce).first()
    if session is None:
        raise TokenRefused(reason="revoked")
    return session


#: Without an answer that counts, who began longer ago gives their slot up to somebody who needs it, and may still go
#: on. Loading the page, and answers in practice, make no difference: a script does both.
SILENT_AFTER = timedelta(minutes=10)


def holding_slots(study: Study) -> QuerySet[Session]:
    """Sessions whose slots are taken: those that were withdrawn, ended unqualified, or gave theirs up hold none."""
    held = Session.objects.filter(study=study, holds_slot=True)
    return held.exclude(state=SessionState.WITHDRAWN).exclude(qualified=False)


def is_at_work(session: str = "") -> Q:
    """Of sessions, or of rows that have one under this name: it has answers that count, or was begun just now."""
    place = f"{session}__" if session else ""
    has_answers = ~Q(**{f"{place}state": SessionState.OPEN}) | Q(**{f"{place}confirmed_at__isnull": False})
    return has_answers | Q(**{f"{place}opened_at__gte": clock.now() - SILENT_AFTER})


def kept_slots(study: Study) -> int:
    """Slots that nobody gives up any more, or not now: of sessions that may count and are at work."""
    kept = holding_slots(study).filter(is_verified=True)
    # Who is under way first: whoever ends in between is counted twice, and never left out.
    under_way = kept.filter(is_at_work(), state=SessionState.OPEN, completed_at=None).count()
    # The same of those who have ended, in words for which the beginning of an index stands.
    ended = Session.objects.filter(
        study=study,
        state__in=FINISHED,
        is_verified__in=[True],
        holds_slot__in=[True],
    )
    return under_way + sum(ended.filter(part).count() for part in (Q(qualified=None), Q(qualified__in=[True])))


def under_way(sessions: Collection[int]) -> QuerySet[Session]:
    """Of these sessions, by primary key, those that hold a slot and are not finished: with answers that count, or begun
    just now."""
    return Session.objects.filter(is_at_work(), pk__in=sessions, state=SessionState.OPEN, holds_slot=True)


def counted_sessions(participant: int) -> QuerySet[Session]:
    """The participant's sessions that count, of every study of the family."""
    return Session.objects.filter(counting(), participant_id=participant)


def rivals_of(session: Session) -> QuerySet[Session]:
    """The other sessions that were begun under the same id."""
    same = Q(rival_of=session)
    if session.rival_of_id is not None:
        same |= Q(pk=session.rival_of_id) | Q(rival_of=session.rival_of_id)
    return Session.objects.filter(same).exclude(pk=session.pk)


def session_counts(study: Study) -> dict[str, int]:
    """How many sessions were ever opened, how many are in which state, and how many slots the plan has.

    Completed and submitted are those that may count; what is finished and listed by no recruiter stands apart.
    """
    groups = Session.objects.filter(study=study).order_by().values_list("state", "is_verified")
    by_state = {(state, verified): count for state, verified, count in groups.annotate(count=Count("*"))}
    in_all = {state: by_state.get((state, True), 0) + by_state.get((state, False), 0) for state in SessionState.values}
    return {
        "opened": sum(in_all.values()),
        "under_way": in_all[SessionState.OPEN],
        "completed": sum(by_state.get((state, True), 0) for state in FINISHED),
        "submitted": by_state.get((SessionState.SUBMITTED, True), 0),
        "unverified": sum(by_state.get((state, False), 0) for state in FINISHED),
        "withdrawn": in_all[SessionState.WITHDRAWN],
        "planned": study.planned_sessions,
    }


def undoable(study: Study) -> QuerySet[Session]:
    """Withdrawn, and not erased: the latest first."""
    withdrawn = Session.objects.filter(study=study, state=SessionState.WITHDRAWN, erased_at=None)
    return withdrawn.exclude(withdrawn_at=None).select_related("participant", "study").order_by("-withdrawn_at", "-pk")


def taken_back(study: Study, *, since: datetime, opened_before: datetime) -> QuerySet[Session]:
    """Sessions that counted with answers, and were withdrawn since: what was computed meanwhile may hold them."""
    # few among many: by their keys, which an index tells
    withdrawn = Session.objects.filter(pk__in=Session.objects.filter(study=study, state=SessionState.WITHDRAWN))
    counted = withdrawn.filter(is_verified=True, cursor__gt=0)
    return counted.filter(withdrawn_at__gte=since, opened_at__lt=opened_before)
