"""What is written when somebody signs in, or tries to, and the end of sessions."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest

from humanexp.core import clock, sessions
from humanexp.core.audit import record
from humanexp.core.browsers import browser_of
from humanexp.core.caller_hash import caller_of
from humanexp.core.models import SignIn, User


@transaction.atomic
def record_attempt(*, request: HttpRequest, user: User | None, outcome: SignIn.Outcome, way: SignIn.Way) -> SignIn:
    """One line of an attempt; those older than SIGN_INS_KEPT_DAYS go with it. A name without account is not kept."""
    now = clock.now()
    SignIn.objects.filter(at__lt=now - timedelta(days=settings.SIGN_INS_KEPT_DAYS)).delete()
    browser = browser_of(request.headers.get("User-Agent", ""))
    return SignIn.objects.create(
        at=now, user=user, outcome=outcome, way=way, browser=browser, caller=caller_of(request)
    )


def record_sign_in(*, request: HttpRequest, user: User, way: SignIn.Way) -> SignIn:
    """The line, and in the session that it opened, since when and from where it is."""
    line = record_attempt(request=request, user=user, outcome=SignIn.Outcome.SIGNED_IN, way=way)
    sessions.begin(request, sign_in=line.pk)
    return line


@transaction.atomic
def end_sessions(*, user: User, but: str = "", by: User | None = None) -> int:
    """End every session of an account, or all except one; returns how many."""
    found = [session for session in sessions.of(user) if session.key != but]
    sessions.delete(found)
    if found:
        record(action="end-sessions", subject=f"account:{user.pk}", by=by, sessions=len(found))
    return len(found)
