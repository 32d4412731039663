from __future__ import annotations

from collections.abc import Mapping

from django import forms
from django.utils.translation import gettext_lazy as _

from humanexp.results.selection import SELF_REPORTS, Selection

_REPORTS = {
    "sight": _("normal or corrected sight"),
    "colour_sight": _("normal colour sight"),
    "corruption_knowledge": _("no knowledge of image corruptions"),
}


class SelectionForm(forms.Form):
    """Which sessions and trials an analysis counts; everything as it opens = as planned."""

    all_sessions = forms.BooleanField(label=_("Count excluded sessions, too"), required=False)
    timing_ok = forms.BooleanField(label=_("Only trials whose timing is in order"), required=False)
    drop_misses = forms.BooleanField(label=_("Leave misses out instead of counting them as wrong"), required=False)
    self_reports = forms.MultipleChoiceField(
        label=_("Only people who report"),
        choices=[(name, _REPORTS[name]) for name in SELF_REPORTS],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    corruptions = forms.MultipleChoiceField(
        label=_("Only these corruptions"), widget=forms.CheckboxSelectMultiple, required=False
    )

    def __init__(
        self, data: Mapping[str, object] | None = None, *, corruptions: list[str], imported: bool = False
    ) -> None:
        super().__init__(data)
        self._corruptions = set(corruptions)
        field = self.fields["corruptions"]
        if isinstance(field, forms.MultipleChoiceField):
            field.choices = [(name, name.replace("_", " ")) for name in corruptions]
        if len(corruptions) < 2:
            del self.fields["corruptions"]
        if imported:
            # Published trials carry neither verdicts nor timing nor reports.
            for name in ("all_sessions", "timing_ok", "self_reports"):
                del self.fields[name]

    @property
    def selection(self) -> Selection:
        """The choice of a valid form; all corruptions chosen is none chosen."""
        chosen = dict(self.cleaned_data)
        if set(chosen.get("corruptions", ())) == self._corruptions:
            chosen["corruptions"] = ()
        return Selection.model_validate(chosen)
