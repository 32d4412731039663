"""Forms of one's own account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm
from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction

from humanexp.core.limits import SharedAllowance
from humanexp.core.models import HouseRole, SignIn, User
from humanexp.core.second_factors import Adapter
from humanexp.core.services.accounts import record_attempt


class ForgottenForm(forms.Form):
    """Where to send a link to."""

    email = forms.EmailField(
        label="E-mail address of your account",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


class ConfirmForm(forms.Form):
    """The password shows that it is you."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, user: User, *args: Any, **arguments: Any) -> None:
        self.user = user
        super().__init__(*args, **arguments)

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        if not self.user.check_password(password):
            raise forms.ValidationError("This is not your password.")
        return password


class AddressForm(ConfirmForm):
    """Where mail goes."""

    field_order = ("email", "password")
    email = forms.EmailField(
        label="E-mail address",
        max_length=254,
        required=False,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


def _role_field(label: Any) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label,
        choices=[
            (
                HouseRole.MEMBER,
                "member: makes pictures, stimuli and studies, and does in others what their owners allow",
            ),
            (HouseRole.TREASURER, "treasurer: also sets who may spend through which recruiter, and how much"),
            (HouseRole.ADMINISTRATOR, "administrator: can do everything in every study, and manages accounts"),
        ],
        initial=HouseRole.MEMBER,
        widget=forms.RadioSelect,
    )


class RoleForm(forms.Form):
    """What an account is from now on."""

    role = _role_field("Role from now on")


class InvitationForm(forms.Form):
    """Who gets an account, and for how long the link is good."""

    username = forms.CharField(
        label="Name",
        max_length=150,
        help_text="What the person signs in with, for example ada.lovelace",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    email = forms.EmailField(
        label="E-mail address",
        max_length=254,
        required=False,
        help_text="Optional: if mail is set up here, links go there.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    role = _role_field("Role")
    valid_days = forms.TypedChoiceField(
        label="The link is good for",
        choices=[(1, "1 day"), (3, "3 days"), (7, "7 days"), (30, "30 days")],
        coerce=int,
        initial=3,
    )


#: Wrong codes and passkeys of one account, from wherever: whoever tries knows the password already.
OF_AN_ACCOUNT = SharedAllowance("codes of an account", per_s=1 / 300, burst=10)


class _Limited:
    """Takes one try before the answer is looked at, and gives it back where the answer is right."""

    user: User

    def _tried(self, check: Any) -> Any:
        if OF_AN_ACCOUNT.spend(self.user.pk):
            raise ValidationError("Too many wrong codes: wait a few minutes.")
        try:
            found = check()
        except ValidationError:
            wrong = SignIn.Outcome.WRONG_CODE
            record_attempt(request=context.request, user=self.user, outcome=wrong, way=SignIn.Way.CODE)
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
        raise ValidationError("This code was used already: wait for the next one.")
    row.data["used_interval"] = max(matching)
    row.save(update_fields=["data"])
    authenticator.data = row.data
