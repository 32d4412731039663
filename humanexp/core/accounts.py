"""Accounts: made, invited, closed, opened, signed in. Nobody but the person ever learns a password.

Writes take whom they are for (`by`): administrators alone may; without, it was a command. Every attempt to sign in is
written down, whichever page, command or test it comes from.
"""

from __future__ import annotations

import logging
import secrets
from datetime import timedelta
from hmac import compare_digest
from smtplib import SMTPException
from typing import Any
from urllib.parse import urlencode

from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from humanexp.core import clock, selectors, sessions
from humanexp.core.errors import Conflict, InvalidRequest, NotAllowed
from humanexp.core.limits import caller_of
from humanexp.core.models import HouseRole, Invitation, SignIn, User, record
from humanexp.core.ownership import is_head
from humanexp.core.sessions import browser_of

logger = logging.getLogger(__name__)
#: How long a link is good; that of an invitation, unless its administrator says otherwise.
VALID_DAYS = settings.PASSWORD_RESET_TIMEOUT // 86_400
#: From the one who may do least.
_ORDER = tuple(HouseRole)


@transaction.atomic
def make_account(
    *,
    username: str,
    email: str = "",
    role: HouseRole = HouseRole.MEMBER,
    password: str = "",
    by: User | None = None,
) -> User:
    """An account that nobody can use yet, unless a password is given: `invite` lets its owner choose one.

    Raises
    ------
    InvalidRequest
        If the name is taken, also in other capitals, or name, address or password have a form that cannot be used.
    """
    _check_head(by)
    user = User(username=username.strip(), email=email.strip())
    _give(user, role)
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
    record(action="make-account", subject=f"account:{user.pk}", by=by, role=role.value)
    return user


@transaction.atomic
def set_house_role(*, user: User, role: HouseRole, by: User | None = None, by_groups: bool = False) -> User:
    """Make somebody a member, a treasurer or an administrator. Whoever could do more before is signed out.

    `by_groups`: the organisation says so, also of the last administrator.

    Raises
    ------
    Conflict
        If no administrator would be left.
    """
    _check_head(by)
    before = user.house_role
    if role == before:
        return user
    if before == HouseRole.ADMINISTRATOR and not by_groups:
        _check_not_last(user)
    _give(user, role)
    user.save(update_fields=["is_staff", "is_superuser", "is_treasurer"])
    record(
        action="house-role",
        subject=f"account:{user.pk}",
        by=by,
        before=before.value,
        role=role.value,
        by_groups=by_groups,
    )
    if _ORDER.index(role) < _ORDER.index(before):
        end_sessions(user=user, by=by)
    return user


@transaction.atomic
def invite(*, user: User, valid_days: int = VALID_DAYS, by: User | None = None) -> str:
    """A link with which its owner chooses the first password, once; every earlier one is void. Its secret is not kept.

    Raises
    ------
    Conflict
        If the account is closed, or has a password already.
    """
    _check_head(by)
    if not user.is_active:
        raise Conflict(f"{user} is closed: open the account first.")
    if user.has_usable_password():
        raise Conflict(f"{user} has a password already: make a link for another one.")
    secret, now = secrets.token_urlsafe(32), clock.now()
    until = now + timedelta(days=valid_days)
    facts = {"digest": Invitation.digest_of(secret), "made_at": now, "made_by": by, "expires_at": until}
    Invitation.objects.update_or_create(user=user, defaults={**facts, "used_at": None})
    record(action="invite", subject=f"account:{user.pk}", by=by, valid_days=valid_days)
    return _address(user, secret)


@transaction.atomic
def entry_link(*, user: User, by: User | None = None) -> str:
    """A link for somebody who cannot get in: the invitation again, or one that replaces the password.

    Raises
    ------
    Conflict
        If the account is closed.
    """
    _check_head(by)
    if not user.has_usable_password() and Invitation.objects.filter(user=user).exists():
        return invite(user=user, by=by)
    if not user.is_active:
        raise Conflict(f"{user} is closed: open the account first.")
    record(action="password-link", subject=f"account:{user.pk}", by=by)
    return password_link(user)


@transaction.atomic
def set_active(*, user: User, is_active: bool, by: User | None = None) -> User:
    """Close an account, or open it again. Closing ends its sessions: opening it again does not bring them back.

    Raises
    ------
    Conflict
        If no administrator would be left.
    """
    _check_head(by)
    if not is_active and user.is_staff:
        _check_not_last(user)
    user.is_active = is_active
    user.save(update_fields=["is_active"])
    record(action="open-account" if is_active else "close-account", subject=f"account:{user.pk}", by=by)
    if not is_active:
        end_sessions(user=user, by=by)
    return user


@transaction.atomic
def reset_second_factor(*, user: User, by: User | None = None) -> None:
    """Take away every second factor, for somebody who has lost theirs; it ends every session."""
    _check_head(by)
    Authenticator.objects.filter(user=user).delete()
    record(action="reset-second-factor", subject=f"account:{user.pk}", by=by)
    end_sessions(user=user, by=by)


@transaction.atomic
def set_password(*, user: User, password: str, by: User | None = None) -> User:
    """A new password: it ends every session of the account, and every link that could have set another one."""
    _take(user, password)
    user.save(update_fields=["password"])
    Invitation.objects.filter(user=user, used_at=None).update(used_at=clock.now())
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
    return _address(user, default_token_generator.make_token(user))


def _address(user: User, token: str) -> str:
    query = urlencode({"who": urlsafe_base64_encode(force_bytes(user.pk)), "token": token})
    return f"{settings.PUBLIC_URL}{reverse('new-password')}?{query}"


def account_of_link(who: str, token: str) -> User | None:
    """The account whose password a link may set; None for a used, old or invented one, and if the account is closed."""
    try:
        pk = int(urlsafe_base64_decode(who).decode())
    except (ValueError, OverflowError):
        return None
    user = User.objects.filter(pk=pk, is_active=True).first()
    if user is None:
        return None
    invitation = Invitation.objects.filter(user=user, used_at=None, expires_at__gt=clock.now()).first()
    if invitation is not None and compare_digest(invitation.digest, Invitation.digest_of(token)):
        return user
    return user if default_token_generator.check_token(user, token) else None


def send_entry_link(*, user: User, link: str) -> bool:
    """Mail a link to the account's address; False if it has none, mail is not set up, or the server refuses."""
    if not user.email or not selectors.mail_is_set_up():
        return False
    return _mail(user, "console/account/invitation.txt", f"Your account at {settings.PUBLIC_URL}", link)


def send_password_links(*, email: str) -> int:
    """A mail to every open account with this address; returns how many went out.

    Whoever asked is told the same whatever happens here: else they could find out whose address belongs to an account.
    """
    subject = f"Your password for {settings.PUBLIC_URL}"
    users = selectors.accounts_for_mail(email)
    return sum(_mail(user, "console/account/mail.txt", subject, password_link(user)) for user in users)


def _mail(user: User, template: str, subject: str, link: str) -> bool:
    context = {"user": user, "link": link, "site": settings.PUBLIC_URL, "valid_days": VALID_DAYS}
    try:
        send_mail(subject, render_to_string(template, context), None, [user.email])
    except (SMTPException, OSError) as error:
        logger.error("a link for account %d could not be sent: %s", user.pk, type(error).__name__)
        return False
    return True


def _check_head(by: User | None) -> None:
    if by is not None and not is_head(by):
        raise NotAllowed("Only administrators manage accounts.")


def _check_not_last(user: User) -> None:
    if not User.objects.filter(is_staff=True, is_active=True).exclude(pk=user.pk).exists():
        raise Conflict(f"{user} is the last administrator: make another one first.")


def _give(user: User, role: HouseRole) -> None:
    """Django's own pages and commands know administrators by its two flags."""
    user.is_staff = user.is_superuser = role == HouseRole.ADMINISTRATOR
    user.is_treasurer = role == HouseRole.TREASURER


def _take(user: User, password: str) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidRequest(" ".join(error.messages)) from error
    user.set_password(password)


@transaction.atomic
def record_attempt(*, request: HttpRequest, user: User | None, outcome: SignIn.Outcome, way: SignIn.Way) -> SignIn:
    """One line of an attempt; those older than SIGN_INS_KEPT_DAYS go with it. A name without account is not kept."""
    now = clock.now()
    SignIn.objects.filter(at__lt=now - timedelta(days=settings.SIGN_INS_KEPT_DAYS)).delete()
    browser = browser_of(request.headers.get("User-Agent", ""))
    return SignIn.objects.create(
        at=now, user=user, outcome=outcome, way=way, browser=browser, caller=caller_of(request)
    )


def record_sign_in(*, request: HttpRequest, user: User, way: SignIn.Way) -> SignIn:
    """The line, and in the session that it opened, since when and from where it is."""
    line = record_attempt(request=request, user=user, outcome=SignIn.Outcome.SIGNED_IN, way=way)
    sessions.begin(request, sign_in=line.pk)
    return line


@transaction.atomic
def end_sessions(*, user: User, but: str = "", by: User | None = None) -> int:
    """End every session of an account, or all except one; returns how many."""
    found = [session for session in sessions.of(user) if session.key != but]
    sessions.delete(found)
    if found:
        record(action="end-sessions", subject=f"account:{user.pk}", by=by, sessions=len(found))
    return len(found)


@receiver(user_logged_in)
def _signed_in(sender: Any, request: HttpRequest, user: User, **_kwargs: Any) -> None:
    record_sign_in(request=request, user=user, way=_way(get_authentication_records(request, user)))


def _way(records: list[dict[str, Any]]) -> SignIn.Way:
    factors = [step for step in records if step.get("method") == "mfa"]
    if any(step.get("passwordless") for step in factors):
        return SignIn.Way.PASSKEY
    if any(step.get("method") == "socialaccount" for step in records):
        return SignIn.Way.ORGANISATION
    return SignIn.Way.CODE if factors else SignIn.Way.PASSWORD


@receiver(user_login_failed)
def _failed(sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **_kwargs: Any) -> None:
    if request is None:
        return
    user = User.objects.filter(username=str(credentials.get("username", ""))).first()
    is_closed = user is not None and not user.is_active
    outcome = SignIn.Outcome.CLOSED if is_closed else SignIn.Outcome.WRONG_PASSWORD
    record_attempt(request=request, user=user, outcome=outcome, way=SignIn.Way.PASSWORD)


@receiver(authenticator_added)
def _added(sender: Any, request: HttpRequest, user: User, authenticator: Any, **_kwargs: Any) -> None:
    """Browsers that were signed in without it have to sign in again."""
    if authenticator.type != "recovery_codes":
        record(action="add-second-factor", subject=f"account:{user.pk}", by=user, kind=authenticator.type)
        end_sessions(user=user, but=request.session.session_key or "", by=user)


@receiver(authenticator_removed)
def _removed(sender: Any, request: HttpRequest, user: User, authenticator: Any, **_kwargs: Any) -> None:
    if authenticator.type != "recovery_codes":
        record(action="remove-second-factor", subject=f"account:{user.pk}", by=user, kind=authenticator.type)


@receiver(authenticator_reset)
def _renewed(sender: Any, request: HttpRequest, user: User, **_kwargs: Any) -> None:
    record(action="renew-recovery-codes", subject=f"account:{user.pk}", by=user)
