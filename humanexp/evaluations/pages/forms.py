from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from humanexp.evaluations import specs
from humanexp.stimuli.models import StimulusSet


class GoldForm(forms.Form):
    classifiers = forms.CharField(
        label=_("Classifiers, one a line"),
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4, "class": "code", "spellcheck": "false"}),
        help_text=_("For example torchvision:resnet50, or export:fixtures/classifiers/clean.pt2. Ask two or more."),
    )

    def clean_classifiers(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["classifiers"].splitlines() if line.strip()]


class _SetForm(forms.Form):
    stimulus_set = forms.ModelChoiceField(
        StimulusSet.objects.exclude(completed_at=None), label=_("Stimuli"), empty_label=None
    )
    name = forms.CharField(
        label=_("Name on the dashboard"),
        max_length=80,
        required=False,
        help_text=_("A name that is there already gets the new predictions once they are complete."),
    )


class EvaluateForm(_SetForm):
    spec = forms.CharField(
        label=_("Network"),
        max_length=300,
        widget=forms.TextInput(attrs={"class": "code", "spellcheck": "false", "list": "known-networks"}),
        help_text=_("A published network by name, such as timm:resnet50.a1_in1k, or a file of the server's shelf."),
    )
    rule = forms.ChoiceField(
        label=_("From 1,000 classes to 16 categories"),
        choices=[
            ("mean", _("mean probability of a category's classes (published)")),
            ("sum", _("sum of the probabilities")),
            ("max", _("largest probability")),
        ],
    )
    device = forms.ChoiceField(label=_("Computes on"), choices=[("cpu", _("processor")), ("cuda", _("CUDA device"))])
    allow_download = forms.BooleanField(
        label=_("Fetch published weights from the network if they are not on this machine"), required=False
    )
    field_order = ("spec", "stimulus_set", "name", "rule", "device", "allow_download")

    def known(self) -> list[str]:
        """Networks that are offered while typing."""
        return specs.shelf_specs()


class TableForm(_SetForm):
    table = forms.FileField(
        label=_("Table of predictions"),
        widget=forms.FileInput(attrs={"accept": ".csv,.parquet", "data-drop": ""}),
        help_text=_(
            "CSV or Parquet: the column stimulus, and either response (one of the 16 categories) and, if known, "
            "confidence, or one column of probabilities for each category or WordNet id."
        ),
    )
    field_order = ("stimulus_set", "table", "name")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "table" in cleaned and not cleaned.get("name"):
            cleaned["name"] = str(cleaned["table"].name).rpartition(".")[0][:80]
        return cleaned


class ConfirmForm(_SetForm):
    waiting = forms.CharField(max_length=80)
