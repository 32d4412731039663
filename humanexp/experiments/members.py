"""Questions about who may do what in a study; `roles` holds the table."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser

from humanexp.core.models import User
from humanexp.experiments.models import Study, StudyMembership
from humanexp.experiments.roles import MAY, Action, Role


def role_of(user: User | AnonymousUser, study: Study) -> Role | None:
    """What the researcher is in the study; staff are owners everywhere."""
    if not user.is_authenticated or not user.is_active:
        return None
    if user.is_staff or user.is_superuser:
        return Role.OWNER
    role = StudyMembership.objects.filter(study=study, user=user).values_list("role", flat=True).first()
    return Role(role) if role else None


def may(user: User | AnonymousUser, action: Action, study: Study) -> bool:
    """Whether the researcher's role allows this."""
    return role_of(user, study) in MAY[action]


def members_of(study: Study) -> list[StudyMembership]:
    """Owners first, then in the order of the roles and of their coming."""
    order = {role: number for number, role in enumerate(Role)}
    members = study.memberships.select_related("user")
    return sorted(members, key=lambda member: (order[Role(member.role)], member.pk))
