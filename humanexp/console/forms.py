from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _


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
