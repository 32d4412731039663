"""Questions about who may do what in a study; `roles` holds the table."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from humanexp.core.errors import NotAllowed
from humanexp.core.models import Owned, User
from humanexp.core.ownership import Right, is_head
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.models import Study, StudyMembership
from humanexp.studies.roles import MAY, Action, Role


def role_of(user: User | AnonymousUser, study: Study) -> Role | None:
    """What the researcher is in the study; staff are owners everywhere."""
    if not user.is_authenticated or not user.is_active:
        return None
    if is_head(user):
        return Role.OWNER
    role = StudyMembership.objects.filter(study=study, user=user).values_list("role", flat=True).first()
    return Role(role) if role else None


def may(user: User | AnonymousUser, action: Action, study: Study) -> bool:
    """Whether the researcher's role allows this."""
    return role_of(user, study) in MAY[action]


def check(by: User | None, action: Action, study: Study) -> None:
    """Refuse an account whose role does not allow this; the command line and jobs have none, and may."""
    if by is not None and not may(by, action, study):
        raise NotAllowed("Your role in this study does not allow this: ask one of its owners.")


def studies_with(user: User | AnonymousUser, action: Action) -> QuerySet[Study]:
    """Studies in which the researcher's role allows this."""
    if not user.is_authenticated or not user.is_active:
        return Study.objects.none()
    if is_head(user):
        return Study.objects.all()
    return Study.objects.filter(memberships__user=user, memberships__role__in=MAY[action])


def members_of(study: Study) -> list[StudyMembership]:
    """Owners first, then in the order of the roles and of their coming."""
    order = {role: number for number, role in enumerate(Role)}
    members = study.memberships.select_related("user")
    return sorted(members, key=lambda member: (order[Role(member.role)], member.pk))


def grant_by_role(user: User, right: Right, row: Owned) -> bool:
    """Who runs the analyses of a study that the stimuli's owner made adds predictions on its stimuli.

    A study that somebody else made proves nothing: anybody may make one on any stimuli, and invite anybody to it.
    """
    if right is not Right.ADD or not isinstance(row, StimulusSet) or row.created_by_id is None:
        return False
    return studies_with(user, Action.ANALYSE).filter(stimulus_set=row, created_by=row.created_by_id).exists()
