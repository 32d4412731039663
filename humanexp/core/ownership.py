"""Who may change what stands outside every study: pictures, stimuli, predictions, networks and searches.

A row belongs to a laboratory, whose accounts may look at it, and to whoever made it, who may change it; what nobody
made, because a command named no owner, administrators change. Asked in the services and, before any page is made, by
the table of addresses.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from django.contrib.auth.models import AnonymousUser

from humanexp.core.errors import NotAllowed
from humanexp.core.models import DEFAULT_LAB, Owned, User


class Right(Enum):
    """What somebody wants with a row of a laboratory."""

    READ = "read"
    #: put something beside it that others will see there: predictions on a stimulus set
    ADD = "add"
    #: change, replace, freeze or delete it
    CHANGE = "change"


Grant = Callable[[User, Right, Owned], bool]
#: What roles elsewhere allow beyond ownership.
_GRANTS: list[Grant] = []


def register(grant: Grant) -> None:
    _GRANTS.append(grant)


def lab_of(by: User | None) -> str:
    """The laboratory of what somebody makes."""
    return DEFAULT_LAB if by is None else str(by.lab_id)


def is_head(user: User | AnonymousUser) -> bool:
    """Administrators may do everything."""
    return bool(user.is_active and (user.is_staff or user.is_superuser))


def keeps_money(user: User | AnonymousUser) -> bool:
    """Treasurers and administrators say what the house spends."""
    return is_head(user) or (isinstance(user, User) and user.is_active and user.is_treasurer)


def may(user: User | AnonymousUser, right: Right, row: Owned) -> bool:
    if is_head(user):
        return True
    if not isinstance(user, User) or not user.is_active or row.lab_id != user.lab_id:
        return False
    if right is Right.READ or row.created_by_id == user.pk:
        return True
    return any(grant(user, right, row) for grant in _GRANTS)


def check(by: User | None, right: Right, row: Owned) -> None:
    """Refuse an account that may not; the command line and jobs have none, and may."""
    if by is None or may(by, right, row):
        return
    owner = row.created_by.username if row.created_by is not None else "this installation"
    if right is Right.ADD:
        text = (
            "%(row)s belongs to %(owner)s: its owner, those who may run analyses in a study that the owner made on it, "
            "and administrators add predictions."
        )
    else:
        text = "%(row)s belongs to %(owner)s: ask them, or an administrator, to change it."
    raise NotAllowed(text % {"row": row, "owner": owner})
