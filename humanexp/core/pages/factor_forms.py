"""Codes and passkeys, as they are typed or sent: few tries, and each code once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from humanexp.core import services
from humanexp.core.limits import SharedAllowance
from humanexp.core.models import SignIn, User
from humanexp.core.second_factors import Adapter

#: Wrong codes and passkeys of one account, from wherever: whoever tries knows the password already.
OF_AN_ACCOUNT = SharedAllowance("codes of an account", per_s=1 / 300, burst=10)


class _Limited:
    """Takes one try before the answer is looked at, and gives it back where the answer is right."""

    user: User

    def _tried(self, check: Any) -> Any:
        if OF_AN_ACCOUNT.spend(self.user.pk):
            raise ValidationError(_("Too many wrong codes: wait a few minutes."))
        try:
            found = check()
        except ValidationError:
            wrong = SignIn.Outcome.WRONG_CODE
            services.record_attempt(request=context.request, user=self.user, outcome=wrong, way=SignIn.Way.CODE)
            raise
        OF_AN_ACCOUNT.give_back(self.user.pk)
        return found


class _EachOnce(_Limited):
    authenticator: Authenticator

    def clean_code(self) -> str:
        return str(self._tried(self._right_code))

    def _right_code(self) -> str:
        code = str(super().clean_code())  # type: ignore[misc]
        if self.authenticator.type == Authenticator.Type.TOTP:
            _use(self.authenticator, code)
        return code


class CodeForm(_EachOnce, AuthenticateForm):  # type: ignore[misc]
    """At signing in."""


class ConfirmingCodeForm(_EachOnce, ReauthenticateForm):  # type: ignore[misc]
    """Before something that somebody at an unattended screen must not do."""


class PasskeyForm(_Limited, AuthenticateWebAuthnForm):  # type: ignore[misc]
    def clean_credential(self) -> Authenticator:
        found: Authenticator = self._tried(super().clean_credential)
        return found


def _intervals() -> Iterator[int]:
    yield from totp.yield_hotp_counters_from_time()


@transaction.atomic
def _use(authenticator: Authenticator, code: str) -> None:
    """Store which interval the code is of: it and all before it are refused from then on, by every process."""
    row = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
    secret = Adapter().decrypt(row.data["secret"])
    codes = {interval: totp.format_hotp_value(totp.hotp_value(secret, interval)) for interval in _intervals()}
    matching = [interval for interval, right in codes.items() if totp.compare_user_code(actual=code, expected=right)]
    used = row.data.get("used_interval", -1)
    if not matching or max(matching) <= used:
        raise ValidationError(_("This code was used already: wait for the next one."))
    row.data["used_interval"] = max(matching)
    row.save(update_fields=["data"])
    authenticator.data = row.data
