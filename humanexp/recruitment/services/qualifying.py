"""Qualifications of ours: which a campaign asks for, and who is given one or has it taken back."""

from __future__ import annotations

import secrets

from django.db import transaction

from humanexp.core.models import User
from humanexp.participation import selectors as participation_selectors
from humanexp.recruitment import selectors
from humanexp.recruitment.models import (
    Campaign,
    GrantKind,
    Purpose,
    QualificationType,
    QualificationWrite,
    RecruitedPerson,
)
from humanexp.recruitment.recruiters import capabilities_of
from humanexp.recruitment.recruiters.base import Holds, QualificationOrder
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.states import WriteState
from humanexp.studies.models import StudyFamily

_DESCRIPTIONS = {
    Purpose.TOOK_PART: "You have taken part in this research study; everybody takes part once. Thank you.",
}
#: The worker reads it.
OPEN_AGAIN = "Your session was not finished; the study is open to you again."


def type_for(*, environment: str, family: StudyFamily, purpose: Purpose, subject: str = "") -> QualificationType:
    """Our row of it; the recruiter hears of it when a HIT or a grant needs it."""
    found, _ = QualificationType.objects.get_or_create(
        environment=environment,
        family=family,
        purpose=purpose,
        subject=subject,
        # Names are unique in an account, and two databases may share one.
        defaults={"name": f"{purpose.label}: {family.slug} ({secrets.token_hex(4)})"[:120]},
    )
    return found


def order_for(qualification: QualificationType) -> QualificationOrder:
    return QualificationOrder(name=qualification.name, description=_DESCRIPTIONS[Purpose(qualification.purpose)])


def types_of(campaign: Campaign) -> dict[Purpose, QualificationType]:
    """What a campaign's HITs ask for, or ask not to be held."""
    family, environment = campaign.study.family, campaign.environment
    return {Purpose.TOOK_PART: type_for(environment=environment, family=family, purpose=Purpose.TOOK_PART)}


def conditions(campaign: Campaign) -> tuple[tuple[Holds, ...], tuple[str, ...]]:
    """What a worker must hold and must not, once the recruiter has named the qualifications."""
    holds: list[Holds] = []
    lacks: list[str] = []
    for purpose, qualification in types_of(campaign).items():
        match purpose:
            case Purpose.TOOK_PART:
                lacks.append(qualification.type_id)
            case _:
                holds.append(Holds(type_id=qualification.type_id))
    return tuple(holds), tuple(lacks)


def plan_grant(
    *, person: RecruitedPerson, qualification: QualificationType, value: int = 1, by: User | None = None
) -> QualificationWrite:
    """Give a person a qualification; who has it keeps it."""
    return _plan(person, qualification, GrantKind.GRANT, value, by)


def plan_revocation(
    *, person: RecruitedPerson, qualification: QualificationType, by: User | None = None
) -> QualificationWrite | None:
    """Take it back from who was given it."""
    if _last(person, qualification) is None:
        return None
    return _plan(person, qualification, GrantKind.REVOKE, 0, by)


@transaction.atomic
def mark_as_taken_part(*, person: RecruitedPerson) -> None:
    """Once listed: whoever has no session left in the family does not see its HITs any more.

    No call before: a worker id that somebody typed would cost the recruiter a call, and its owner the HIT.
    """
    if not capabilities_of(person.environment).vouches:
        return
    held = participation_selectors.counted_sessions(person.participant_id).count()
    qualification = type_for(environment=person.environment, family=person.family, purpose=Purpose.TOOK_PART)
    if held >= selectors.sessions_allowed(person):
        plan_grant(person=person, qualification=qualification)
    else:
        plan_revocation(person=person, qualification=qualification)


def _plan(
    person: RecruitedPerson, qualification: QualificationType, kind: GrantKind, value: int, by: User | None
) -> QualificationWrite:
    last = _last(person, qualification)
    if last is not None and last.kind == kind:
        return last
    write = QualificationWrite.objects.create(
        environment=qualification.environment,
        kind=kind,
        qualification=qualification,
        person=person,
        value=value,
        token=f"{qualification.environment}-{kind}-{secrets.token_hex(8)}",
        created_by=by,
    )
    request_sending(environment=qualification.environment)
    return write


def _last(person: RecruitedPerson, qualification: QualificationType) -> QualificationWrite | None:
    """How it stands, or will once everything planned is sent."""
    rows = QualificationWrite.objects.filter(person=person, qualification=qualification)
    return rows.exclude(state=WriteState.REFUSED).order_by("-pk").first()
