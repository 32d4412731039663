from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.http import HttpRequest

from humanexp.core import clock, sessions
from humanexp.core.errors import InvalidRequest, NotAllowed, existing
from humanexp.core.models import Invitation, SignIn, User
from humanexp.core.ownership import is_head

#: Lines of sign-ins on a page.
LATEST = 20


def account(username: str) -> User:
    """An account by its name, open or closed."""
    found = User.objects.filter(username=username.strip()).first()
    return existing(found, f"There is no account {username.strip()!r}. All of them: python manage.py user list")


def account_called(username: str) -> User:
    """An active account by its name."""
    name = username.strip()
    user = User.objects.filter(username=name).first()
    if user is None:
        raise InvalidRequest(
            f"No one here has an account {name!r}. An administrator makes one: manage.py user add NAME.",
            fields={"username": "No such account."},
        )
    if not user.is_active:
        raise InvalidRequest(
            f"The account {name!r} is closed. An administrator opens it again: manage.py user enable {name}.",
            fields={"username": "This account is closed."},
        )
    return user


def user_of(request: HttpRequest) -> User:
    """Who has signed in and asks; nobody else is let in."""
    if not isinstance(request.user, User):
        raise NotAllowed
    return request.user


def head_of(request: HttpRequest) -> User:
    """The administrator who asks."""
    user = user_of(request)
    if not is_head(user):
        raise NotAllowed("Only administrators do this: ask one.")
    return user


def account_of(pk: int) -> User:
    return existing(User.objects.filter(pk=pk).first(), "There is no such account.")


def accounts() -> list[User]:
    return list(User.objects.order_by("username").select_related("invitation"))


def open_invitation(user: User) -> Invitation | None:
    """The one that its owner can still use."""
    return Invitation.objects.filter(user=user, used_at=None, expires_at__gt=clock.now()).first()


@dataclass(frozen=True, kw_only=True)
class Signed:
    """A session as its owner sees it."""

    is_this: bool
    browser: str
    began_at: datetime | None
    seen_at: datetime | None


def sessions_of(user: User, *, this: str = "") -> list[Signed]:
    """Where an account is signed in, last seen first."""
    found = sessions.of(user)
    lines = SignIn.objects.in_bulk([session.sign_in for session in found if session.sign_in])
    return [
        Signed(
            is_this=session.key == this,
            browser=line.browser if line else "",
            began_at=line.at if line else None,
            seen_at=session.seen_at,
        )
        for session in found
        for line in [lines.get(session.sign_in or 0)]
    ]


def sign_ins_of(user: User) -> Sequence[SignIn]:
    """The latest attempts, newest first."""
    return list(user.sign_ins.all()[:LATEST])


def open_accounts_with(email: str) -> list[User]:
    return list(User.objects.filter(email__iexact=email.strip(), is_active=True)) if email.strip() else []


def accounts_for_mail(email: str) -> list[User]:
    """Those that may ask for a new password: not those that only their organisation signs in, for it may stop to."""
    found = open_accounts_with(email)
    return [user for user in found if user.has_usable_password() or not user.identities.exists()]


def mail_is_set_up() -> bool:
    return bool(settings.EMAIL_HOST)
