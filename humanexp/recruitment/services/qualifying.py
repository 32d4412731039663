"""The mark "took part": under which name a family has it at a recruiter, and who is given it or has it taken back."""

from __future__ import annotations

import secrets

from django.db import transaction

from humanexp.participation import selectors as participation_selectors
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Call, CallKind, QualificationType, RecruitedPerson
from humanexp.recruitment.recruiters import capabilities_of
from humanexp.recruitment.recruiters.base import QualificationOrder
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.states import WriteState
from humanexp.studies.models import StudyFamily

#: The worker reads both.
_DESCRIPTION = "You have taken part in this research study; everybody takes part once. Thank you."
OPEN_AGAIN = "Your session was not finished; the study is open to you again."


def type_for(*, environment: str, family: StudyFamily) -> QualificationType:
    """Our row of it; the recruiter hears of it when a HIT or a grant needs it."""
    found, _ = QualificationType.objects.get_or_create(
        environment=environment,
        family=family,
        # Names are unique in an account, and two databases may share one.
        defaults={"name": f"already took part: {family.slug} ({secrets.token_hex(4)})"[:120]},
    )
    return found


def order_for(qualification: QualificationType) -> QualificationOrder:
    return QualificationOrder(name=qualification.name, description=_DESCRIPTION)


def plan_grant(*, person: RecruitedPerson, qualification: QualificationType) -> None:
    """Give a person the mark; who has it keeps it."""
    _plan(person, qualification, CallKind.GRANT)


def plan_revocation(*, person: RecruitedPerson, qualification: QualificationType) -> None:
    """Take it back from who was given it."""
    if _last(person, qualification) is not None:
        _plan(person, qualification, CallKind.REVOKE)


@transaction.atomic
def mark_as_taken_part(*, person: RecruitedPerson) -> None:
    """Once listed: whoever has no session left in the family does not see its HITs any more.

    No call before: a worker id that somebody typed would cost the recruiter a call, and its owner the HIT.
    """
    if not capabilities_of(person.environment).vouches:
        return
    held = participation_selectors.counted_sessions(person.participant_id).count()
    qualification = type_for(environment=person.environment, family=person.family)
    if held >= selectors.sessions_allowed(person):
        plan_grant(person=person, qualification=qualification)
    else:
        plan_revocation(person=person, qualification=qualification)


def _plan(person: RecruitedPerson, qualification: QualificationType, kind: CallKind) -> None:
    last = _last(person, qualification)
    if last is not None and last.kind == kind:
        return
    Call.objects.plan(kind, environment=qualification.environment, qualification=qualification, person=person)
    request_sending(environment=qualification.environment)


def _last(person: RecruitedPerson, qualification: QualificationType) -> Call | None:
    """How it stands, or will once everything planned is sent."""
    rows = Call.objects.filter(person=person, qualification=qualification)
    return rows.exclude(state=WriteState.REFUSED).order_by("-pk").first()
