from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from humanexp.stimuli import selectors
from humanexp.stimuli.models import SourceSet


class StimulusSetForm(forms.Form):
    source_set = forms.ModelChoiceField(SourceSet.objects.none(), label=_("Pictures"), empty_label=None)
    name = forms.SlugField(
        label=_("Name"), max_length=80, help_text=_("Letters, digits, hyphens and underscores; used in commands.")
    )
    corruptions = forms.MultipleChoiceField(label=_("Corruption functions"), widget=forms.CheckboxSelectMultiple)
    count = forms.IntegerField(
        label=_("Stimuli a function"),
        min_value=1,
        initial=1000,
        help_text=_("1,000 put 25 into each of 40 bins of visual change; 20 are enough."),
    )
    size_px = forms.IntegerField(
        label=_("Size in pixels"),
        initial=224,
        help_text=_("The side of the square that is shown. Visual change depends on it, so a set has one size."),
    )
    seed = forms.IntegerField(
        label=_("Seed"), min_value=0, initial=0, help_text=_("The same pictures and seed give the same stimuli.")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        from analysis.corruptions import CORRUPTIONS

        super().__init__(*args, **{"label_suffix": "", **kwargs})
        source_sets, functions = self.fields["source_set"], self.fields["corruptions"]
        if isinstance(source_sets, forms.ModelChoiceField):
            source_sets.queryset = selectors.source_sets()
        if isinstance(functions, forms.MultipleChoiceField):
            functions.choices = [(name, corruption.label) for name, corruption in CORRUPTIONS.items()]
