"""Several sessions under one id: nobody knows which of them is the person's, so all are kept.

Coming first is not owning: until an answer counts, whoever comes next with an id begins anew, and puts nobody out. The
first answer that counts decides which session stands for the id; the others count nowhere, and the researcher sees
them.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import Max, Q

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.participation import selectors as participation_selectors, services as participation
from humanexp.participation.models import Response, Session, SessionState
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Assignment, Campaign
from humanexp.recruitment.states import AssignmentState


def may_begin_anew(assignment: Assignment) -> bool:
    """Whether another session may be begun under this id: until an answer counts."""
    session = assignment.session
    return (
        session is not None
        and session.state == SessionState.OPEN
        and session.confirmed_at is None
        and session.left_at is None
    )


def may_go_on_elsewhere(assignment: Assignment) -> bool:
    """Whether another device may go on with the session: the recruiter lists the place as this person's and under way,
    and the window in which it was begun has been silent."""
    session = assignment.session
    if session is None or session.state != SessionState.OPEN or session.left_at is not None:
        return False
    is_at_work = session.is_verified and assignment.state == AssignmentState.OPENED
    return assignment.campaign.capabilities.lists_in_progress and is_at_work and _is_silent(session)


def go_on_elsewhere(assignment: Assignment) -> None:
    """The window in which it was begun is out; the device that goes on is checked like the first."""
    if assignment.session is None:
        return
    participation.revoke_tokens(session=assignment.session)
    subject = f"session:{assignment.session.code}"
    record(action="go-on-elsewhere", subject=subject, study=assignment.session.study.slug)


def _is_silent(session: Session) -> bool:
    """No answer for a while. That a page was loaded tells nothing: a script loads it for ever."""
    latest = Response.objects.filter(session=session).aggregate(latest=Max("received_at"))["latest"]
    return (latest or session.opened_at) < clock.now() - participation_selectors.SILENT_AFTER


def set_aside(assignment: Assignment) -> Session | None:
    """The session under this id goes on, gives up its slot, and counts nowhere unless its answers come first."""
    session = assignment.session
    if session is None:
        return None
    participation.set_aside(session=session)
    assignment.session = None
    assignment.save(update_fields=["session"])
    return session


def keep_beside(aside: Session, session: Session) -> None:
    """Tie a session that was set aside, and all before it, to the one that was begun instead."""
    participation.tie_rivals(session=session, rivals=[aside.pk, *aside.rivals.values_list("pk", flat=True)])
    record(action="begin-anew", subject=f"session:{session.code}", study=session.study.slug, beside=aside.code)


def own_rival(assignment: Assignment, secret: Session | None) -> Session | None:
    """The session beside the one that stands, whose secret the page shows."""
    is_beside = secret is not None and assignment.session is not None and secret.rival_of_id == assignment.session.pk
    return secret if is_beside and secret is not None and secret.state != SessionState.WITHDRAWN else None


@transaction.atomic
def decide(*, assignment: Assignment) -> Assignment:
    """Have the session stand for the id whose answers counted first; what was submitted stays as it is."""
    row = Assignment.objects.select_for_update(of=("self",)).select_related("session", "campaign").get(pk=assignment.pk)
    session = row.session
    if session is None or row.is_listed:
        return row
    began = Q(confirmed_at__isnull=False) & ~Q(state=SessionState.WITHDRAWN)
    rivals = Session.objects.filter(began, Q(rival_of=session) | Q(pk=session.pk))
    first = rivals.order_by("confirmed_at", "pk").first()
    if first is None or first == session:
        return row
    may_count = session.is_verified
    participation.set_aside(session=session)
    row.session = first
    row.save(update_fields=["session"])
    participation.tie_rivals(session=first, rivals=[session.pk, *session.rivals.values_list("pk", flat=True)])
    if may_count:
        participation.verify_session(session=first)
    return row


def decide_all(*, campaign: Campaign) -> None:
    """The same of everybody under whose id several sessions were begun."""
    contested = campaign.assignments_taken.filter(session__rivals__confirmed_at__isnull=False).distinct()
    for row in contested:
        decide(assignment=row)


def assignment_behind(session: Session) -> Assignment | None:
    """Under which assignment a session was begun, after a look at which session stands for it now."""
    found = selectors.assignment_of(session)
    if found is None or not (session.rival_of_id or session.rivals.exists()):
        return found
    return decide(assignment=found)
