from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext_lazy as _

from humanexp.marketplace.models import Account, Worker


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

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if Account.objects.filter(username=username).exists():
            raise forms.ValidationError(_("This user name is taken."), code="unique")
        return username

    def clean_country(self) -> str:
        country: str = self.cleaned_data["country"].upper()
        if country:
            for validator in Worker._meta.get_field("country").validators:
                validator(country)
        return country

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password)
        return password

    def cleaned(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("username", "password", "country", "is_adult")}
