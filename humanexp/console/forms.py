from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from humanexp.experiments.roles import Role


class PreviewForm(forms.Form):
    """How a researcher wants to take a study."""

    pace = forms.ChoiceField(
        choices=[("true", _("As participants do, with the true timing")), ("hurried", _("Speed through it"))],
        initial="true",
        widget=forms.RadioSelect,
    )
    session = forms.IntegerField(min_value=1, initial=1)

    def __init__(self, *args: Any, sessions: int, **arguments: Any) -> None:
        super().__init__(*args, **arguments)
        field = self.fields["session"]
        if isinstance(field, forms.IntegerField):
            field.max_value = sessions
            field.widget.attrs["max"] = sessions

    @property
    def choices(self) -> dict[str, Any]:
        """As the service takes them."""
        return {"slot": self.cleaned_data["session"] - 1, "is_hurried": self.cleaned_data["pace"] == "hurried"}


class InviteForm(forms.Form):
    """Somebody with an account, and what they may do."""

    username = forms.CharField(
        label=_("Name of the account"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, widget=forms.RadioSelect)
