"""Making, closing and opening accounts, and passwords. Nobody but the person ever learns a password."""

from __future__ import annotations

import logging
from smtplib import SMTPException
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from humanexp.core import selectors
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User

logger = logging.getLogger(__name__)
#: How long a link is good.
VALID_DAYS = settings.PASSWORD_RESET_TIMEOUT // 86_400


@transaction.atomic
def make_account(*, username: str, email: str = "", is_staff: bool = False, password: str = "") -> User:
    """An account that nobody can use yet, unless a password is given: a link lets its owner choose one.

    Raises
    ------
    InvalidRequest
        If the name is taken, also in other capitals, or name, address or password have a form that cannot be used.
    """
    user = User(username=username.strip(), email=email.strip(), is_staff=is_staff, is_superuser=is_staff)
    if User.objects.filter(username__iexact=user.username).exists():
        raise InvalidRequest(f"There is an account {user.username!r} already.")
    user.set_unusable_password()
    try:
        user.full_clean()
    except ValidationError as error:
        raise InvalidRequest(" ".join(error.messages)) from error
    if password:
        _take(user, password)
    user.save()
    record(action="make-account", subject=f"account:{user.pk}", is_staff=is_staff)
    return user


@transaction.atomic
def set_active(*, user: User, is_active: bool) -> User:
    """Close an account, or open it again. Who is signed in with a closed one is out with the next page.

    Raises
    ------
    Conflict
        If no administrator would be left.
    """
    others = User.objects.filter(is_staff=True, is_active=True).exclude(pk=user.pk)
    if not is_active and user.is_staff and not others.exists():
        raise Conflict(f"{user} is the last administrator: make another one first.")
    user.is_active = is_active
    user.save(update_fields=["is_active"])
    record(action="open-account" if is_active else "close-account", subject=f"account:{user.pk}")
    return user


@transaction.atomic
def set_password(*, user: User, password: str, by: User | None = None) -> User:
    """A new password: it ends every session of the account, and every link that could have set another one."""
    _take(user, password)
    user.save(update_fields=["password"])
    record(action="change-password", subject=f"account:{user.pk}", by=by)
    return user


@transaction.atomic
def set_address(*, user: User, email: str) -> User:
    """Where a new password can be asked for; links that went to another address are void with it."""
    user.email = email.strip()
    user.save(update_fields=["email"])
    record(action="change-address", subject=f"account:{user.pk}", by=user)
    return user


def password_link(user: User) -> str:
    """Lets whoever opens it choose the account's password, once. The secret is in the query: no log of ours has it."""
    query = urlencode(
        {"who": urlsafe_base64_encode(force_bytes(user.pk)), "token": default_token_generator.make_token(user)}
    )
    return f"{settings.PUBLIC_URL}{reverse('new-password')}?{query}"


def account_of_link(who: str, token: str) -> User | None:
    """The account whose password a link may set; None for a used, old or invented one."""
    try:
        pk = int(urlsafe_base64_decode(who).decode())
    except (ValueError, OverflowError):
        return None
    user = User.objects.filter(pk=pk, is_active=True).first()
    return user if user is not None and default_token_generator.check_token(user, token) else None


def send_password_links(*, email: str) -> int:
    """A mail to every open account with this address; returns how many went out.

    Whoever asked is told the same whatever happens here: else they could find out whose address belongs to an account.
    """
    sent = 0
    for user in selectors.open_accounts_with(email):
        context = {"user": user, "link": password_link(user), "site": settings.PUBLIC_URL, "valid_days": VALID_DAYS}
        text = render_to_string("console/account/mail.txt", context)
        try:
            send_mail(f"Your password for {settings.PUBLIC_URL}", text, None, [user.email])
        except (SMTPException, OSError) as error:
            logger.error("a link for account %d could not be sent: %s", user.pk, type(error).__name__)
        else:
            sent += 1
    return sent


def _take(user: User, password: str) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidRequest(" ".join(error.messages)) from error
    user.set_password(password)
