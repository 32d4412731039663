from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from humanexp.core.errors import InvalidRequest
from humanexp.recruitment import money
from humanexp.recruitment.models import Environment
from humanexp.recruitment.models.campaigns import DAY_S
from humanexp.recruitment.services.publishing import SMALL_HIT


class DollarField(forms.CharField):
    """Money as people type it; integer cents as the program keeps it."""

    def __init__(self, **options: Any) -> None:
        widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
        super().__init__(**{"widget": widget, **options})

    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        if not text:
            return None
        try:
            return money.cents(text)
        except InvalidRequest as error:
            raise forms.ValidationError(error.message) from error


class TermsForm(forms.Form):
    """What fixes the price of a launch."""

    to = forms.ChoiceField(label=_("Where people are found"), choices=Environment.choices, widget=forms.RadioSelect)
    assignments = forms.IntegerField(label=_("Places"), min_value=1, max_value=100_000)
    reward = DollarField(label=_("Reward"), help_text=_("Dollars for one person."))
    assignments_per_hit = forms.IntegerField(
        label=_("Places in one HIT"),
        min_value=1,
        max_value=100_000,
        required=False,
        help_text=_("Up to %(small)s the fee is half as high; nobody can take part twice either way.")
        % {"small": SMALL_HIT},
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("to") == Environment.LINK:
            cleaned["reward"] = 0
            cleaned["assignments_per_hit"] = None
        return cleaned

    @property
    def terms(self) -> dict[str, Any]:
        """Arguments of `services.quote`."""
        given = self.cleaned_data
        return {
            "to": given["to"],
            "assignments": given["assignments"],
            "reward_cents": given["reward"],
            "assignments_per_hit": given["assignments_per_hit"],
        }


class LaunchForm(TermsForm):
    """Everything a campaign is launched with. `shown_total` is the price that stood on the page."""

    title = forms.CharField(label=_("Title"), max_length=128)
    description = forms.CharField(label=_("Description"), max_length=2_000, widget=forms.Textarea(attrs={"rows": 3}))
    keywords = forms.CharField(label=_("Keywords"), max_length=1_000, required=False)
    estimated_minutes = forms.IntegerField(label=_("Minutes it takes"), min_value=1, max_value=600)
    approval_days = forms.IntegerField(
        label=_("Days until everyone is paid automatically"),
        min_value=1,
        max_value=30,
        help_text=_("The safety net: if this machine dies, people are paid all the same."),
    )
    contact = forms.CharField(
        label=_("Contact"), max_length=200, required=False, help_text=_("An address that participants can write to.")
    )
    shown_total = forms.IntegerField(widget=forms.HiddenInput, required=False)
    confirm_total = DollarField(label=_("Type the total to confirm"), required=False)

    @property
    def campaign(self) -> dict[str, Any]:
        """Arguments of `services.publish` beside the study."""
        given = self.cleaned_data
        is_real = given["to"] == Environment.PRODUCTION
        return {
            **self.terms,
            "title": given["title"],
            "description": given["description"],
            "keywords": given["keywords"],
            "estimated_minutes": given["estimated_minutes"],
            "auto_approval_s": given["approval_days"] * DAY_S,
            "contact": given["contact"],
            # where money is real it is typed; elsewhere the price that was seen has to be the price
            "confirm_total_cents": given["confirm_total"] if is_real else given["shown_total"],
        }


class RejectionForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason, as the worker will read it"),
        min_length=20,
        max_length=900,
        widget=forms.Textarea(attrs={"rows": 4}),
    )
