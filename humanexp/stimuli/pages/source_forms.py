from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from humanexp.core.slugs import NameField
from humanexp.stimuli.services.sources import MOST_PROVENANCE
from humanexp.stimuli.sources import is_storage_configured


class NotesForm(forms.Form):
    provenance = forms.CharField(
        label=_("Where the pictures come from"),
        required=False,
        max_length=MOST_PROVENANCE,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Names, addresses, how they were chosen: what a methods section needs."),
    )
    licence = forms.CharField(label=_("Licence"), required=False, max_length=200)


class ImportForm(NotesForm):
    name = NameField()
    archive = forms.FileField(
        label=_("Zip archive"),
        required=False,
        widget=forms.FileInput(attrs={"accept": ".zip,application/zip", "data-drop": ""}),
        help_text=_("One folder a category or WordNet id, or pictures with a table path,category."),
    )
    storage_prefix = forms.CharField(label=_("Or everything in the storage under"), required=False, max_length=500)
    minimum_side_px = forms.IntegerField(
        label=_("Shortest side in pixels"),
        min_value=0,
        initial=224,
        required=False,
        help_text=_(
            "Smaller pictures cannot be used. Stimuli are 224 px unless you choose otherwise; 0 takes all sizes."
        ),
    )
    skip_unusable = forms.BooleanField(
        label=_("Leave out pictures that cannot be used, and list them; otherwise one of them refuses all"),
        required=False,
    )
    field_order = ("name", "archive", "storage_prefix", "minimum_side_px", "skip_unusable", "provenance", "licence")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if is_storage_configured():
            self.fields["storage_prefix"].help_text = settings.PICTURES_STORAGE.split("?")[0]
        else:
            del self.fields["storage_prefix"]
            self.fields["archive"].required = True

    def clean_minimum_side_px(self) -> int:
        return self.cleaned_data["minimum_side_px"] or 0

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        given = [bool(cleaned.get("archive")), bool(cleaned.get("storage_prefix"))]
        if not self.errors and sum(given) != 1:
            raise forms.ValidationError(_("Give either an archive or a prefix of the storage."))
        return cleaned
