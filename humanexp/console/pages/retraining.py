"""Training a network further: the form, and its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.forms.boundfield import BoundField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from analysis.errors import AnalysisError, OriginalsOverlap
from humanexp.console import classifiers
from humanexp.core.errors import ApplicationError
from humanexp.core.models import User
from humanexp.core.names import NameField
from humanexp.core.selectors import user_of
from humanexp.evaluations import specs
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.studies.models import Action, Study
from humanexp.studies.permissions import studies_with
from humanexp.studies.selectors import has_stimuli, stimulus_sets


class RetrainingForm(forms.Form):
    """What is trained, on what, tested on what, compared with whom."""

    spec = forms.CharField(
        label="Network",
        max_length=300,
        widget=forms.TextInput(attrs={"class": "code", "spellcheck": "false", "list": "known-networks"}),
        help_text="A torch network: published, such as timm:resnet50.a1_in1k, or a file offered while you type.",
    )
    name = NameField(
        label="Name of the new network",
        max_length=60,
        help_text="It is stored as NAME.pt2 and offered here from then on.",
    )
    stimulus_set = forms.ModelChoiceField(
        StimulusSet.objects.exclude(completed_at=None),
        label="Trained on",
        required=False,
        empty_label="no stimuli: clean pictures alone",
    )
    pictures = forms.ModelMultipleChoiceField(
        SourceSet.objects.all(),
        label="Clean pictures trained on, too",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Several sets, and stimuli with them, make a mix.",
    )
    tests = forms.ModelMultipleChoiceField(
        SourceSet.objects.all(),
        label="Clean pictures tested on, too",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Sets with the same labels and other pictures.",
    )
    own_labels = forms.BooleanField(
        label="Loss among all outputs of the model",
        required=False,
        help_text="For pictures with WordNet ids: 1,000-way, as published. Otherwise among the labels of the pictures.",
    )
    evaluation_set = forms.ModelChoiceField(
        StimulusSet.objects.exclude(completed_at=None),
        label="Tested on",
        required=False,
        empty_label="other originals of the same set",
        help_text="No original of the test may be one of training, by its content.",
    )
    corruptions = forms.MultipleChoiceField(
        label="Corruptions trained on",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all of the set. The test has all of them in any case.",
    )
    study = forms.ModelChoiceField(
        Study.objects.none(),
        label="Compared with the people of",
        required=False,
        empty_label="no one: areas without HMRI and MRSI",
    )
    epochs = forms.IntegerField(label="Epochs", min_value=1, max_value=200, initial=5)
    learning_rate = forms.FloatField(label="Learning rate", min_value=1e-8, max_value=10, initial=0.001)
    decay_every = forms.IntegerField(label="Decay after epochs", min_value=0, max_value=200, initial=0, required=False)
    decay = forms.FloatField(label="Decay of the rate", min_value=1e-6, max_value=1, initial=0.1, required=False)
    momentum = forms.FloatField(label="Momentum", min_value=0, max_value=0.999, initial=0.9)
    batch = forms.IntegerField(label="Pictures a batch", min_value=1, max_value=1024, initial=32)
    held_out = forms.FloatField(label="Share held out", min_value=0, max_value=0.5, initial=0.2)
    patience = forms.IntegerField(label="Patience, epochs", min_value=1, max_value=200, initial=2)
    share = forms.FloatField(
        label="Share of originals trained on",
        min_value=0.05,
        max_value=0.95,
        initial=0.5,
        help_text="Where training and test divide one set.",
    )
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=2**31 - 1, initial=0)
    device = forms.ChoiceField(label="Computes on", choices=[("cpu", "processor"), ("cuda", "CUDA device")])
    power_w = forms.FloatField(
        label="Power of the device, W",
        min_value=1,
        max_value=100_000,
        required=False,
        help_text="Empty: what is usual for it.",
    )
    other_w = forms.FloatField(label="Power of other parts, W", min_value=0, max_value=100_000, required=False)
    overhead = forms.FloatField(label="Overhead of the site", min_value=1, max_value=10, initial=1)
    kg_co2_per_kwh = forms.FloatField(label="kg CO2 a kWh", min_value=0, max_value=5)
    source = forms.CharField(label="Source of this number", max_length=200, required=False)
    allow_download = forms.BooleanField(
        label="Fetch published weights from the network if they are not on this machine", required=False
    )

    _recipe = (
        *("epochs", "learning_rate", "decay_every", "decay", "momentum"),
        *("batch", "held_out", "patience", "seed"),
    )
    _power = ("power_w", "other_w", "overhead", "kg_co2_per_kwh", "source")

    def __init__(self, given: Any = None, *, user: User, spec: str = "") -> None:
        usual = {name: value for name, value in settings.ENERGY.constants("cpu").items() if name != "power_w"}
        super().__init__(given, initial={"spec": spec, **usual})
        self.has_sets = has_stimuli()
        self.initial["stimulus_set"] = StimulusSet.objects.exclude(completed_at=None).first()
        for field in self.fields.values():
            if isinstance(field, forms.FloatField) and not isinstance(field, forms.IntegerField):
                field.widget.attrs["step"] = "any"
        corruptions, study = self.fields["corruptions"], self.fields["study"]
        if isinstance(corruptions, forms.MultipleChoiceField):
            there = sorted({name for one in stimulus_sets() for name in one.corruptions})
            corruptions.choices = [(name, name.replace("_", " ")) for name in there]
        if isinstance(study, forms.ModelChoiceField):
            study.queryset = studies_with(user, Action.ANALYSE).exclude(stimulus_set=None)

    def known(self) -> list[str]:
        """Networks that are offered while typing."""
        return [specs.shown(spec) for spec in specs.shelf_specs() if not spec.startswith("onnx:")]

    def recipe_fields(self) -> Iterator[BoundField]:
        return (self[name] for name in (*self._recipe, "device"))

    def energy_fields(self) -> Iterator[BoundField]:
        return (self[name] for name in self._power)

    @property
    def asked(self) -> dict[str, Any]:
        """As `console.services.retrain_onto_shelf` takes it, from a valid form."""
        from analysis.retraining.training import Recipe
        from humanexp.evaluations.services.training_material import Folder

        given = dict(self.cleaned_data)
        chosen = {name: given.pop(name) for name in self._recipe}
        recipe = Recipe(**{name: value for name, value in chosen.items() if value is not None})
        power = settings.ENERGY.constants(given["device"], {name: given.pop(name) for name in self._power})
        pictures = [Folder(source_set) for source_set in given.pop("pictures")]
        return {**given, "recipe": recipe, "power": power, "pictures": pictures, "tests": list(given["tests"])}


@login_required
@require_http_methods(["GET", "POST"])
def retrain(request: HttpRequest) -> HttpResponse:
    """Have a network trained further on stimuli; what cannot end well is refused before anything is written."""
    user = user_of(request)
    form = RetrainingForm(request.POST or None, user=user, spec=request.GET.get("spec", ""))
    if request.method == "POST" and form.is_valid():
        try:
            row, _job = classifiers.retrain_onto_shelf(**form.asked, by=user)
        except ApplicationError as error:
            form.add_error(next((name for name in error.fields if name in form.fields), None), error.message)
        except OriginalsOverlap as error:
            form.add_error("evaluation_set", str(error))
        except AnalysisError as error:
            form.add_error(None, str(error))
        else:
            return redirect("evaluations:retraining", pk=row.pk)
    return render(request, "evaluations/retrain.html", {"form": form}, status=422 if form.is_bound else 200)
