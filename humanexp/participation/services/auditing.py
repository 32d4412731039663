"""Limits of the participant API, and the record of what it refused."""

from __future__ import annotations

from django.db.models import Q

from humanexp.core import clock
from humanexp.core.errors import TokenRefused, TooFast, TooManyCalls
from humanexp.core.limits import Allowance
from humanexp.core.sqlite_write_lock import write_turn
from humanexp.participation.credentials import SessionClaim
from humanexp.participation.models import RefusalReason, RefusedCall, Session
from humanexp.participation.session_cache import course_of

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
