"""Leaving a session: the participant's own decision, at any time before it is submitted."""

from __future__ import annotations

from django.db import transaction

from humanexp.core import clock
from humanexp.core.errors import SessionClosed
from humanexp.experiments import selectors
from humanexp.experiments.credentials import SessionClaim
from humanexp.experiments.models import Response, Session, SessionState
from humanexp.experiments.services.sessions import withdraw_session


@transaction.atomic
def leave_session(*, claim: SessionClaim) -> Session:
    """Withdraw, and delete every answer and everything known of the person's device and sight; twice is once.

    That a session was begun, and how far it came, stays: the flow of participants counts it.
    """
    session = selectors.session_of(claim)
    if session.state == SessionState.WITHDRAWN:
        return session
    if session.state == SessionState.SUBMITTED:
        raise SessionClosed("It has been submitted. Write to the people who run the study to have it deleted.")
    withdraw_session(session=session)
    Response.objects.filter(session=session).delete()
    Session.objects.filter(pk=session.pk).update(environment={}, last_seen_at=clock.now())
    return session
