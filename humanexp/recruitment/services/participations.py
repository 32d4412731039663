"""Under which id somebody takes part by a link: the site's own for this participation, or one of ours."""

from __future__ import annotations

import secrets

from humanexp.core.errors import AlreadyTookPart
from humanexp.recruitment.models import Assignment, Campaign, RecruitedPerson


def participation_id(*, campaign: Campaign, person: RecruitedPerson, given: str, known: Assignment | None) -> str:
    """The site's id is used by one person alone: whoever shows that of another has changed the address."""
    if not given:
        return known.assignment_id if known else secrets.token_urlsafe(12)
    if campaign.assignments_taken.filter(assignment_id=given).exclude(person=person).exists():
        raise AlreadyTookPart("This participation was begun by someone else. Open the study from where you found it.")
    return given


def go_on_under(known: Assignment, assignment_id: str) -> Assignment:
    """A person who goes on may have come back with another id of participation: that is the one to be paid."""
    if known.assignment_id != assignment_id and not known.is_listed:
        known.assignment_id = assignment_id
        known.save(update_fields=["assignment_id"])
    return known
