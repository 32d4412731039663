from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class GoldForm(forms.Form):
    classifiers = forms.CharField(
        label=_("Classifiers, one a line"),
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4, "class": "code", "spellcheck": "false"}),
        help_text=_("For example torchvision:resnet50, or export:fixtures/classifiers/clean.pt2. Ask two or more."),
    )

    def clean_classifiers(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["classifiers"].splitlines() if line.strip()]
