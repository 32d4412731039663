"""Who may do what in a study, and its members. A study with members always has an owner."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import QuerySet

from humanexp.core.errors import Conflict, InvalidRequest, NotAllowed
from humanexp.core.models import Owned, User, record
from humanexp.core.ownership import Right, is_head
from humanexp.core.selectors import account_called
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.models import MAY, Action, Role, Study, StudyMembership


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


@transaction.atomic
def invite(*, study: Study, username: str, role: str, by: User) -> StudyMembership:
    """Give somebody with an account a role in the study."""
    check(by, Action.MEMBERS, study)
    user = account_called(username)
    if StudyMembership.objects.filter(study=study, user=user).exists():
        raise InvalidRequest(
            f"{user} takes part already: change the role in the list.", fields={"username": "Takes part already."}
        )
    member = StudyMembership.objects.create(study=study, user=user, role=_known(role))
    _record("member-invite", member, by, role=member.role)
    return member


@transaction.atomic
def change_role(*, member: StudyMembership, role: str, by: User) -> StudyMembership:
    """Give a member another role; refused for the last owner."""
    member = StudyMembership.objects.select_for_update().select_related("study", "user").get(pk=member.pk)
    check(by, Action.MEMBERS, member.study)
    before, wanted = member.role, _known(role)
    if before == wanted:
        return member
    _keep_an_owner(member)
    member.role = wanted
    member.save(update_fields=["role"])
    _record("member-role", member, by, before=before, role=member.role)
    return member


@transaction.atomic
def remove(*, member: StudyMembership, by: User) -> None:
    """End somebody's part in the study; refused for the last owner."""
    member = StudyMembership.objects.select_for_update().select_related("study", "user").get(pk=member.pk)
    check(by, Action.MEMBERS, member.study)
    _keep_an_owner(member)
    _record("member-remove", member, by, role=member.role)
    member.delete()


def _known(role: str) -> Role:
    if role not in Role.values:
        raise InvalidRequest(
            f"{role!r} is no role: choose one of {', '.join(Role.values)}.", fields={"role": "No role."}
        )
    return Role(role)


def _keep_an_owner(member: StudyMembership) -> None:
    if member.role != Role.OWNER:
        return
    # Locked together: two owners who leave at the same moment cannot both be the second-last.
    owners = list(member.study.memberships.select_for_update().filter(role=Role.OWNER).order_by("pk"))
    if len(owners) < 2:
        raise Conflict(f"{member.user} is the only owner: make another member an owner first.")


def _record(action: str, member: StudyMembership, by: User, **facts: str) -> None:
    record(action=action, subject=f"user:{member.user_id}", study=member.study.slug, by=by, **facts)
