"""Second factors: codes of an authenticator app, passkeys, recovery codes. allauth keeps and checks them."""

from __future__ import annotations

import time
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from humanexp.core.errors import NotAllowed
from humanexp.core.limits import caller_of
from humanexp.core.models import User
from humanexp.core.sealing import sealed, unsealed

#: Those that are asked for at signing in; recovery codes stand in for them.
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def is_required() -> bool:
    return bool(settings.SECOND_FACTOR == "required")


def is_off() -> bool:
    return bool(settings.SECOND_FACTOR == "off")


def has_one(user: User) -> bool:
    return bool(Authenticator.objects.filter(user=user, type__in=FACTORS).exists())


def confirmed_lately(request: HttpRequest) -> bool:
    """Whether whoever asks has shown who they are within CONFIRM_MINUTES, at signing in or after it."""
    records = get_authentication_records(request, request.user if isinstance(request.user, User) else None)
    latest = max((record["at"] for record in records), default=0.0)
    return bool(time.time() - latest < settings.CONFIRM_MINUTES * 60)


class Adapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets are encrypted; the names that people read are the house's."""

    def encrypt(self, text: str) -> str:
        return sealed(text)

    def decrypt(self, encrypted_text: str) -> str:
        return unsealed(encrypted_text)

    def is_mfa_enabled(self, user: AbstractBaseUser, types: Any = None) -> bool:
        return not is_off() and bool(super().is_mfa_enabled(user, types))

    def get_totp_label(self, user: AbstractBaseUser) -> str:
        return str(user.get_username())

    def generate_authenticator_name(self, user: AbstractBaseUser, type: Any) -> str:  # noqa: A002  (allauth's name)
        return f"Passkey {Authenticator.objects.filter(user=user.pk, type=type).count() + 1}"

    def _get_site_name(self) -> str:
        return "HumanExp"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Nobody signs up by themselves; addresses of callers are not looked at."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        return caller_of(request)

    def send_notification_mail(self, *_arguments: Any, **_named: Any) -> None:
        """Sign-ins and changes are on the account's page and in the record."""

    def is_reauthentication_required(self, *, app: str, **_named: Any) -> bool:
        return not confirmed_lately(context.request)

    def login(self, request: HttpRequest, user: AbstractBaseUser) -> None:
        """Also refuses an account that was closed between the password and the second factor."""
        if not user.is_active:
            self.respond_user_inactive(request, user)
        super().login(request, user)

    def respond_user_inactive(self, request: HttpRequest, user: AbstractBaseUser) -> HttpResponse:
        raise NotAllowed("This account is closed: ask an administrator.")

    def get_logout_redirect_url(self, request: HttpRequest) -> str:
        return str(redirect(settings.LOGOUT_REDIRECT_URL).url)
