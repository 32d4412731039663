"""Who may be let back in, and by what."""

from __future__ import annotations

from django.db.models import Case, IntegerField, Q, Value, When

from humanexp.core import clock
from humanexp.experiments.models import SessionState, Study
from humanexp.recruitment.models import Assignment, WayBack
from humanexp.recruitment.selectors.payments import assignments_of


def assignment_of_person(study: Study, said: str) -> Assignment | None:
    """By an id of the recruiter, or the code of a participant or session; the one under way first, then the latest."""
    mine = assignments_of(study).filter(
        Q(person__worker_id=said) | Q(person__participant__code=said.upper()) | Q(session__code=said.upper())
    )
    under_way = Case(When(session__state=SessionState.OPEN, then=Value(0)), default=1, output_field=IntegerField())
    return mine.order_by(under_way, "-pk").first()


def open_ways_back(assignment: Assignment) -> list[WayBack]:
    """Those that still let somebody in."""
    now = clock.now()
    ways = assignment.ways_back.filter(expires_at__gt=now, revoked_at=None)
    return [way for way in ways.select_related("made_by", "assignment__campaign") if way.is_open(now)]


def may_be_let_in(assignment: Assignment) -> bool:
    return assignment.session is not None and assignment.session.state == SessionState.OPEN
