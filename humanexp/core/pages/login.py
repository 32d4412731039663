"""Signing in and the forms of one's own account.

Whoever guesses passwords is soon not listened to, without keeping the owner of the name out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import perform_password_login
from allauth.account.internal.flows.reauthentication import reauthenticate_by_password, resume_request
from allauth.account.models import Login as SigningIn
from allauth.account.utils import get_next_redirect_url, passthrough_next_redirect_url
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm
from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from humanexp.core import organisation
from humanexp.core.accounts import record_attempt
from humanexp.core.errors import TooManyCalls
from humanexp.core.limits import SharedAllowance, caller_of
from humanexp.core.models import HouseRole, SignIn, User
from humanexp.core.second_factors import Adapter, is_off
from humanexp.core.selectors import mail_is_set_up, user_of


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


#: Wrong passwords for one name from one address; the name can be used from any other.
OF_A_NAME = SharedAllowance("passwords of a name", per_s=1 / 60, burst=10)
#: Wrong passwords from one address, for whatever names.
OF_A_CALLER = SharedAllowance("passwords of a caller", per_s=1 / 10, burst=100)
#: Wrong passwords for one name from all addresses together, in browsers that never knew the right one: many addresses
#: guess no faster. The browsers of the name's owner are not among them, and stay in.
OF_STRANGERS = SharedAllowance("passwords of strangers", per_s=1 / 600, burst=50)
#: A browser in which the right password of a name was typed. It proves nothing else, and opens nothing.
_KNOWN, _KNOWN_S = f"{'__Host-' if settings.SESSION_COOKIE_SECURE else ''}humanexp_known", 365 * 86_400


@dataclass
class Tried:
    is_right: bool = False


@contextmanager
def password_tried(request: HttpRequest, username: str) -> Iterator[Tried]:
    """A try of somebody's password: paid for before it is looked at, given back where it was right."""
    caller, name = caller_of(request), _name(username)
    tries: list[tuple[SharedAllowance, Hashable]] = [(OF_A_NAME, (name, caller)), (OF_A_CALLER, caller)]
    if request.get_signed_cookie(_KNOWN, "", salt=_KNOWN) != name:
        tries.append((OF_STRANGERS, name))
    wait_s = max(allowance.spend(key) for allowance, key in tries)
    if wait_s:
        raise TooManyCalls("Too many wrong passwords: wait a few minutes.", retry_after_s=wait_s)
    tried = Tried()
    yield tried
    if tried.is_right:
        for allowance, key in tries:
            allowance.give_back(key)


def _name(username: str) -> str:
    return username.strip().casefold()[:150]


def _know(answer: HttpResponse, user: User) -> None:
    """Guesses of others do not keep this browser out any more."""
    answer.set_signed_cookie(
        _KNOWN,
        _name(user.get_username()),
        salt=_KNOWN,
        max_age=_KNOWN_S,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


class Login(LoginView):
    """The console's own form, for the administration too. Each try is paid for; the right password gives it back."""

    template_name = "console/login.html"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.is_right = False
        with password_tried(request, request.POST.get("username", "")) as tried:
            answer = super().post(request, *args, **kwargs)
            tried.is_right = self.is_right
        return answer

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Signs in, or asks for the second factor first."""
        self.is_right = True
        user = form.get_user()
        login = SigningIn(user=user, email_verification="none", redirect_url=self.get_success_url())
        answer: HttpResponse = perform_password_login(self.request, {}, login)
        _know(answer, user)
        return answer

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        shown = {"mail_is_set_up": mail_is_set_up(), "has_passkeys": not is_off()}
        name = settings.OIDC_NAME if organisation.is_set_up() else ""
        return super().get_context_data(**shown, organisation=name, **context)


@sensitive_post_parameters()
@login_required
@require_http_methods(["GET", "POST"])
def confirm(request: HttpRequest) -> HttpResponse:
    """The password again, before something that somebody at an unattended screen must not do."""
    user = user_of(request)
    if not user.has_usable_password():
        return _confirm_otherwise(request, user)
    form = ConfirmForm(user, request.POST or None)
    if request.method == "POST":
        with password_tried(request, user.get_username()) as tried:
            tried.is_right = form.is_valid()
        if tried.is_right:
            reauthenticate_by_password(request)
            return resume_request(request) or redirect(settings.LOGIN_REDIRECT_URL)
    context = {"form": form, "next": get_next_redirect_url(request) or ""}
    return render(request, "console/account/confirm.html", context, status=422 if form.is_bound else 200)


def _confirm_otherwise(request: HttpRequest, user: User) -> HttpResponse:
    """Whoever has no password here shows the second factor, or signs in again."""
    methods = get_adapter().get_reauthentication_methods(user)
    where = methods[0]["url"] if methods else reverse("organisation" if organisation.is_set_up() else "login")
    return redirect(passthrough_next_redirect_url(request, where, "next"))
