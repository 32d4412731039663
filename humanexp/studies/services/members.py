"""Who takes part in making a study. A study with people always has an owner."""

from __future__ import annotations

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.core.selectors import account_called
from humanexp.studies.models import Study, StudyMembership
from humanexp.studies.permissions import check
from humanexp.studies.roles import Action, Role


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
