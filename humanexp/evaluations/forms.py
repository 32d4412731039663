"""Forms of models: what is evaluated on which pictures, uploaded networks and tables, gold pictures."""

from __future__ import annotations

import math
from typing import Any

from django import forms

from analysis.errors import AnalysisError
from analysis.observers.kinds import KINDS
from humanexp.evaluations import specs
from humanexp.evaluations.services.evaluations import How
from humanexp.evaluations.services.uploads import uploaded_labels
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.labels import label_choices, space_named


class GoldForm(forms.Form):
    classifiers = forms.CharField(
        label="Classifiers, one a line",
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4, "class": "code", "spellcheck": "false"}),
        help_text="For example torchvision:resnet50, or export:fixtures/classifiers/clean.pt2. Ask two or more.",
    )

    def clean_classifiers(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["classifiers"].splitlines() if line.strip()]


class _SetForm(forms.Form):
    stimulus_set = forms.ModelChoiceField(
        StimulusSet.objects.exclude(completed_at=None), label="Stimuli", empty_label=None
    )
    name = forms.CharField(
        label="Name on the dashboard",
        max_length=80,
        required=False,
        help_text="A name that is there already gets the new predictions once they are complete.",
    )


def _kind_field() -> forms.ChoiceField:
    return forms.ChoiceField(
        label="Kind of network",
        required=False,
        choices=[("", "as known from its name"), *((kind.id, kind.name) for kind in KINDS.values())],
        help_text="Figures colour and order networks by kind, and means over kinds are taken.",
    )


class KindForm(forms.Form):
    kind = _kind_field()


class EvaluateForm(_SetForm):
    spec = forms.CharField(
        label="Network",
        max_length=300,
        widget=forms.TextInput(attrs={"class": "code", "spellcheck": "false", "list": "known-networks"}),
        help_text="A published network by name, such as timm:resnet50.a1_in1k, or a file of the server's shelf.",
    )
    rule = forms.ChoiceField(
        label="From outputs to labels",
        choices=[
            ("mean", "mean probability of the outputs that stand for a label (published)"),
            ("sum", "sum of the probabilities"),
            ("max", "largest probability"),
        ],
    )
    decide = forms.ChoiceField(
        label="Which outputs compete",
        required=False,
        choices=[
            ("among", "those that stand for a label of the pictures (published)"),
            ("open", "all; where one wins that stands for no label, the answer is wrong"),
        ],
    )
    device = forms.ChoiceField(label="Computes on", choices=[("cpu", "processor"), ("cuda", "CUDA device")])
    precision = forms.ChoiceField(
        label="Precision on CUDA",
        required=False,
        choices=[
            ("float32", "exact float32"),
            ("tf32", "TF32: products rounded, faster"),
            ("float16", "float16 mixed in, fastest"),
            ("bfloat16", "bfloat16 mixed in"),
        ],
    )
    allow_download = forms.BooleanField(
        label="Fetch published weights from the network if they are not on this machine", required=False
    )
    kind = _kind_field()
    field_order = ("spec", "stimulus_set", "name", "kind", "rule", "decide", "device", "precision", "allow_download")

    def known(self) -> list[str]:
        """Networks that are offered while typing."""
        return specs.offered_specs()

    @property
    def asked(self) -> dict[str, Any]:
        """As `services.evaluate` takes it, from a valid form. A processor computes in float32 in any case."""
        given = dict(self.cleaned_data)
        how = {name: given.pop(name) for name in ("rule", "decide", "device", "precision", "allow_download", "kind")}
        how["decide"] = how["decide"] or "among"
        how["precision"] = how["precision"] if how["precision"] and how["device"] != "cpu" else "float32"
        return {**given, "how": How(**how)}


class ModelForm(forms.Form):
    """A network's file, and what it does not say of itself."""

    model = forms.FileField(
        label="File of the model",
        widget=forms.FileInput(attrs={"accept": ".pt2,.onnx,.safetensors", "data-drop": ""}),
        help_text="A torch.export program (.pt2), an ONNX network, or weights as safetensors; never a pickle (.pt).",
    )
    name = forms.CharField(
        label="Name on the shelf", max_length=60, help_text="Letters, digits, - and _; for example my-resnet."
    )
    architecture = forms.CharField(
        label="Network that the weights belong to",
        max_length=120,
        required=False,
        widget=forms.TextInput(attrs={"class": "code", "spellcheck": "false"}),
        help_text="Only for safetensors: timm:resnet50, or torchvision:resnet50.",
    )
    outputs = forms.ChoiceField(
        label="What it puts out",
        choices=[("logits", "logits, before softmax"), ("probabilities", "probabilities")],
    )
    labels = forms.ChoiceField(
        label="Its labels",
        choices=[
            ("imagenet", "ImageNet's 1,000 classes, in their usual order"),
            ("categories", "the labels chosen below, in alphabetical order of their ids"),
            ("own", "its own, by the mapping file below"),
        ],
    )
    space = forms.ChoiceField(
        label="Labels of the pictures",
        required=False,
        help_text="What its outputs are called, or what a mapping file may name as their category.",
    )
    mapping = forms.FileField(
        label="Mapping file",
        required=False,
        widget=forms.FileInput(attrs={"accept": ".csv"}),
        help_text="CSV with the columns label and category: one row per output, in their order.",
    )
    input_px = forms.IntegerField(label="Side of its input, in pixels", min_value=1, max_value=2048, initial=224)
    mean = forms.CharField(label="Mean that is subtracted", initial="0.485, 0.456, 0.406", max_length=80)
    std = forms.CharField(
        label="Standard deviation that it is divided by",
        initial="0.229, 0.224, 0.225",
        max_length=80,
        help_text="Of red, green and blue, in the range from 0 to 1.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice = self.fields["space"]
        if isinstance(choice, forms.ChoiceField):
            choice.choices = list(label_choices().items())

    def clean_mean(self) -> list[float]:
        return _three_numbers(self.cleaned_data["mean"])

    def clean_std(self) -> list[float]:
        numbers = _three_numbers(self.cleaned_data["std"])
        if min(numbers) <= 0:
            raise forms.ValidationError("Each of the three must be above 0.")
        return numbers

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("labels") != "own":
            return cleaned
        if not cleaned.get("mapping"):
            self.add_error("mapping", "Its own labels need a mapping file: choose one.")
            return cleaned
        try:
            cleaned["own"] = list(uploaded_labels(cleaned["mapping"], space_named(cleaned.get("space", ""))))
        except AnalysisError as error:
            self.add_error("mapping", str(error))
        return cleaned

    @property
    def asked(self) -> dict[str, Any]:
        """As `shelving.receive` takes it, from a valid form."""
        given = self.cleaned_data
        labels: Any = {"imagenet": "imagenet", "own": given.get("own")}.get(given["labels"])
        if given["labels"] == "categories":
            labels = list(space_named(given["space"]).ids)
        return {
            "file": given["model"],
            "name": given["name"],
            "architecture": given["architecture"].strip(),
            "description": {
                "labels": labels, "input_px": given["input_px"], "mean": given["mean"], "std": given["std"],
                "outputs": given["outputs"],
            },
        }  # fmt: skip


def _three_numbers(text: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 3 or not all(math.isfinite(number) for number in numbers):
        raise forms.ValidationError("Write three numbers, separated by commas.")
    return numbers


class TableForm(_SetForm):
    table = forms.FileField(
        label="Table of predictions",
        widget=forms.FileInput(attrs={"accept": ".csv,.parquet", "data-drop": ""}),
        help_text=(
            "CSV or Parquet: the column stimulus, and either response (the id of a label of the pictures) and, if "
            "known, confidence, or one column of probabilities for each label or WordNet id."
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
