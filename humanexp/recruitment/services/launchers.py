"""Who may spend through an account with a recruiter, and who says so."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import AnonymousUser
from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import InvalidRequest, NotAllowed
from humanexp.core.models import User
from humanexp.core.ownership import keeps_money
from humanexp.recruitment import recruiters, selectors
from humanexp.recruitment.models import RecruiterAccount


def check_treasurer(by: User | None) -> None:
    """The command line and jobs have no account, and may."""
    if by is not None and not keeps_money(by):
        raise NotAllowed("Only a treasurer or an administrator says who may spend through a recruiter, and how much.")


def may_launch_on(user: User | AnonymousUser, code: str) -> bool:
    """Through a recruiter that pays nobody anybody may launch, through others whom the account names.

    Nothing that somebody can make for themselves, such as a study, gives this right.
    """
    if keeps_money(user) or not recruiters.capabilities_of(code).pays:
        return True
    who = selectors.launchers_of(code)
    return user.is_active and (who.is_open or user.get_username() in who.usernames)


def check_may_launch_on(by: User | None, code: str) -> None:
    """The command line and jobs have no account, and may."""
    if by is not None and not may_launch_on(by, code):
        raise NotAllowed(
            f"{recruiters.name_of(code)}: you are not among those who may launch through this account. Ask a treasurer "
            "or an administrator to name you there."
        )


@transaction.atomic
def set_launchers(*, code: str, usernames: Iterable[str], is_open: bool, by: User | None) -> RecruiterAccount:
    """Who may launch through this account: every account of the installation, or those who are named.

    Campaigns that run go on.
    """
    check_treasurer(by)
    if not recruiters.account_of(code).kind.capabilities.pays:
        raise InvalidRequest(f"No money goes through {code!r}: everybody may launch there.")
    names = {name.strip() for name in usernames if name.strip()}
    found = list(User.objects.filter(username__in=names, is_active=True))
    if unknown := sorted(names - {user.username for user in found}):
        raise InvalidRequest(
            f"There is no open account {', '.join(map(repr, unknown))} here; nothing was changed.",
            fields={"launchers": f"not known: {', '.join(unknown)}"},
        )
    row, _made = RecruiterAccount.objects.update_or_create(environment=code, defaults={"is_open": is_open})
    row.launchers.set(found)
    record(
        action="set-launchers",
        subject=f"recruiter:{code}",
        by=by,
        is_open=is_open,
        accounts=sorted(user.pk for user in found),
    )
    return row
