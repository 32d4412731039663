from __future__ import annotations

from typing import Any

from django import forms

from humanexp.core.models import User
from humanexp.core.ownership import is_head
from humanexp.notices.models import Pace, Way

#: What a person can choose from.
MUTE_DAYS = [(1, "1 day"), (3, "3 days"), (7, "1 week"), (30, "30 days")]


class AddressForm(forms.Form):
    """A new address of one's own."""

    way = forms.ChoiceField(label="How", choices=Way.choices)
    target = forms.CharField(
        label="Address",
        max_length=500,
        required=False,
        help_text="Of a webhook or of Slack: https://… For e-mail leave it empty: your account's address is used.",
        widget=forms.URLInput(attrs={"autocomplete": "off"}),
    )
    pace = forms.ChoiceField(label="How often", choices=Pace.choices)
    of_all_studies = forms.BooleanField(label="Also of studies that I am not a member of", required=False)

    def __init__(self, user: User, *args: Any, **arguments: Any) -> None:
        super().__init__(*args, **arguments)
        if not is_head(user):
            del self.fields["of_all_studies"]


class PaceForm(forms.Form):
    """How often an address hears."""

    pace = forms.ChoiceField(choices=Pace.choices)
    of_all_studies = forms.BooleanField(required=False)


class MuteForm(forms.Form):
    """What to hear nothing of, and for how long."""

    study = forms.SlugField(max_length=80, required=False)
    name = forms.SlugField(max_length=40, required=False)
    days = forms.TypedChoiceField(choices=MUTE_DAYS, coerce=int)
