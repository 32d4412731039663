from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class DecisionForm(forms.Form):
    accepted = forms.TypedChoiceField(
        label=_("Does this session count?"),
        choices=[("yes", _("It counts")), ("no", _("It does not count"))],
        coerce=lambda value: value == "yes",
        widget=forms.RadioSelect,
    )
    written_reason = forms.CharField(
        label=_("Why"),
        min_length=10,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("It is stored with the verdict and exported with the results. Payment does not depend on it."),
    )
