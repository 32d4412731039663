from __future__ import annotations

from django.db import transaction

from humanexp.core.errors import Conflict
from humanexp.core.models import User
from humanexp.experiments import members
from humanexp.experiments.models import Session
from humanexp.experiments.roles import Action
from humanexp.recruitment.models import Assignment, Payment
from humanexp.recruitment.services.settling import clear
from humanexp.screening import services as screening


@transaction.atomic
def exclude_but_pay(*, session: Session, written_reason: str, by: User) -> Payment:
    """The session does not count in the analysis, and its person is paid like everybody else."""
    members.check(by, Action.REVIEW, session.study)
    assignment = Assignment.objects.filter(session=session).first()
    if assignment is None:
        raise Conflict("No submission belongs to this session, so there is nothing to pay.")
    screening.decide(session=session, accepted=False, written_reason=written_reason, by=by)
    return clear(assignment=assignment, by=by)
