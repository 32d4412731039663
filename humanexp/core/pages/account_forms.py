from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from humanexp.core.models import HouseRole, User


class ForgottenForm(forms.Form):
    """Where to send a link to."""

    email = forms.EmailField(
        label=_("E-mail address of your account"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


class ConfirmForm(forms.Form):
    """The password shows that it is you."""

    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, user: User, *args: Any, **arguments: Any) -> None:
        self.user = user
        super().__init__(*args, **arguments)

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        if not self.user.check_password(password):
            raise forms.ValidationError(_("This is not your password."))
        return password


class AddressForm(ConfirmForm):
    """Where mail goes."""

    field_order = ("email", "password")
    email = forms.EmailField(
        label=_("E-mail address"),
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
                _("member: makes pictures, stimuli and studies, and does in others what their owners allow"),
            ),
            (HouseRole.TREASURER, _("treasurer: also sets who may spend through which recruiter, and how much")),
            (HouseRole.ADMINISTRATOR, _("administrator: can do everything in every study, and manages accounts")),
        ],
        initial=HouseRole.MEMBER,
        widget=forms.RadioSelect,
    )


class RoleForm(forms.Form):
    """What an account is from now on."""

    role = _role_field(_("Role from now on"))


class InvitationForm(forms.Form):
    """Who gets an account, and for how long the link is good."""

    username = forms.CharField(
        label=_("Name"),
        max_length=150,
        help_text=_("What the person signs in with, for example ada.lovelace"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    email = forms.EmailField(
        label=_("E-mail address"),
        max_length=254,
        required=False,
        help_text=_("Optional: if mail is set up here, links go there."),
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    role = _role_field(_("Role"))
    valid_days = forms.TypedChoiceField(
        label=_("The link is good for"),
        choices=[(1, _("1 day")), (3, _("3 days")), (7, _("7 days")), (30, _("30 days"))],
        coerce=int,
        initial=3,
    )
