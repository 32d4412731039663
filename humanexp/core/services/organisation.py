"""Accounts of people who sign in through their organisation: linked by subject, with the roles of their groups."""

from __future__ import annotations

import logging

from django.conf import settings
from django.db import transaction

from humanexp.core import clock, selectors
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, NotAllowed
from humanexp.core.models import DEFAULT_LAB, HouseRole, Identity, Lab, User
from humanexp.core.organisation import Person
from humanexp.core.services.accounts import end_sessions, make_account, set_house_role

logger = logging.getLogger(__name__)
#: Before the name of a laboratory, in what a group stands for.
LAB = "lab/"


def account_of(*, person: Person) -> User:
    """The account that signs in, with the roles that its groups have today.

    Raises
    ------
    NotAllowed
        If nobody is linked and no group gets an account, if the groups of before are gone, or the account is closed.
    """
    identity = Identity.objects.filter(issuer=person.issuer, subject=person.subject).select_related("user").first()
    roles = roles_of(person)
    user = identity.user if identity is not None else _linked_by_address(person)
    if user is not None and not user.is_active:
        raise NotAllowed("This account is closed: ask an administrator.")
    if settings.OIDC_GROUPS:
        if user is not None:
            set_roles(user=user, roles=roles)
        if not roles:
            raise NotAllowed("None of your groups has access here: ask an administrator.")
    if user is not None:
        return user
    if not settings.OIDC_GROUPS:
        raise NotAllowed("No account here is linked with you. Sign in with your password, then link it.")
    return _make(person, roles)


def roles_of(person: Person) -> frozenset[str]:
    return frozenset(role for group, role in settings.OIDC_GROUPS.items() if group in person.groups)


@transaction.atomic
def link(*, user: User, person: Person) -> Identity:
    """From now on this person of the organisation is this account.

    Raises
    ------
    Conflict
        If the person is another account already.
    """
    facts = {"user": user, "linked_at": clock.now()}
    key = {"issuer": person.issuer, "subject": person.subject}
    identity, is_new = Identity.objects.get_or_create(**key, defaults=facts)
    if identity.user_id != user.pk:
        raise Conflict("Another account is linked with this person of your organisation.")
    if is_new:
        record(action="link-account", subject=f"account:{user.pk}", by=user)
    return identity


@transaction.atomic
def set_roles(*, user: User, roles: frozenset[str]) -> User:
    """What the groups say; whoever loses a role is signed out elsewhere, too."""
    are_mapped = any(role.startswith(LAB) for role in settings.OIDC_GROUPS.values())
    usual = DEFAULT_LAB if are_mapped else str(user.lab_id)
    lab = next((role.removeprefix(LAB) for role in sorted(roles) if role.startswith(LAB)), usual)
    role = next((role for role in reversed(HouseRole) if role in roles), HouseRole.MEMBER)
    set_house_role(user=user, role=role, by_groups=True)
    if user.lab_id != lab:
        user.lab, _made = Lab.objects.get_or_create(name=lab)
        user.save(update_fields=["lab"])
        record(action="lab-by-groups", subject=f"account:{user.pk}", lab=lab)
    if not roles:
        end_sessions(user=user)
    return user


def _linked_by_address(person: Person) -> User | None:
    """Only where the administrator says that the organisation's addresses are the persons'."""
    if not settings.OIDC_LINK_BY_EMAIL:
        return None
    found = selectors.open_accounts_with(person.email)
    if len(found) != 1:
        return None
    link(user=found[0], person=person)
    return found[0]


@transaction.atomic
def _make(person: Person, roles: frozenset[str]) -> User:
    name = person.username or person.subject
    if User.objects.filter(username__iexact=name).exists():
        raise NotAllowed(
            f"There is an account {name!r} already. If it is yours, sign in with its password and link it; otherwise "
            "ask an administrator."
        )
    user = make_account(username=name, email=person.email)
    link(user=user, person=person)
    return set_roles(user=user, roles=roles)
