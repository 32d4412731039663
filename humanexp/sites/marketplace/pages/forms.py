from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext_lazy as _

from humanexp.sites.marketplace.models.accounts import Account, Invitation, Worker


class SignUpForm(forms.Form):
    """A user name and a password; what else is asked can be left out."""

    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        validators=Account._meta.get_field("username").validators,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
        help_text=_("Only you and this marketplace see it. Requesters see a random worker ID."),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("At least 8 characters."),
    )
    country = forms.CharField(
        label=_("Country code"),
        required=False,
        max_length=2,
        widget=forms.TextInput(attrs={"autocomplete": "country", "placeholder": "DE"}),
        help_text=_("Two letters. Optional; some work is open to certain countries only."),
    )
    is_adult = forms.BooleanField(label=_("I am 18 or older"), required=False)

    invitation = forms.CharField(
        label=_("Invitation code"),
        max_length=32,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters"}),
        help_text=_("From the lab that invited you."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if settings.MARKETPLACE_SIGN_UP == "invite":
            self.order_fields(["invitation"])
        else:
            del self.fields["invitation"]

    def clean_invitation(self) -> str:
        code: str = self.cleaned_data["invitation"].strip().upper()
        if not Invitation.objects.filter(code=code, used_at=None).exists():
            raise forms.ValidationError(_("No unused invitation has this code."), code="invalid")
        return code

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if Account.objects.filter(username=username).exists():
            raise forms.ValidationError(_("This user name is taken."), code="unique")
        return username

    def clean_country(self) -> str:
        country: str = Worker._meta.get_field("country").clean(self.cleaned_data["country"].upper(), None)
        return country

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password)
        return password


class LogInForm(AuthenticationForm):
    """Django's, with the words of the sign-up form."""

    username = UsernameField(label=_("User name"), widget=forms.TextInput(attrs={"autofocus": True}))


class PayoutForm(forms.Form):
    """What the lab has handed to a worker. The amount is cleaned to cents."""

    worker_id = forms.CharField(label=_("Worker ID"), max_length=64)
    amount = forms.RegexField(
        r"^[0-9]{1,9}(\.[0-9]{1,2})?$",
        label=_("Amount in dollars"),
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
        error_messages={"invalid": _("Dollars and cents like 12.50.")},
    )
    way = forms.CharField(
        label=_("How"), max_length=60, help_text=_("The worker reads it: bank transfer, cash, voucher.")
    )
    note = forms.CharField(label=_("Note"), max_length=200, required=False, help_text=_("Only for the lab."))

    def clean_amount(self) -> int:
        return int(Decimal(self.cleaned_data["amount"]) * 100)


class ContactForm(forms.Form):
    """What a worker writes to a requester."""

    subject = forms.CharField(label=_("Subject"), max_length=200)
    text = forms.CharField(
        label=_("Message"),
        max_length=4096,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=_("The requester sees your worker ID with it, not your user name."),
    )
