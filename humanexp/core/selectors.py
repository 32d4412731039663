from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from humanexp.core.errors import InvalidRequest, NotAllowed, existing
from humanexp.core.models import User


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
            f"Nobody here has an account {name!r}. An administrator makes one: manage.py user add NAME.",
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


def accounts() -> list[User]:
    return list(User.objects.order_by("username"))


def open_accounts_with(email: str) -> list[User]:
    return list(User.objects.filter(email__iexact=email.strip(), is_active=True)) if email.strip() else []


def mail_is_set_up() -> bool:
    return bool(settings.EMAIL_HOST)
