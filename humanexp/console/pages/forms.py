from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from humanexp.core.models import User
from humanexp.core.names import NameField
from humanexp.evaluations import specs
from humanexp.participation.previews import HURRY
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.models import Action, Role, Study
from humanexp.studies.permissions import studies_with
from humanexp.studies.selectors import has_stimuli, stimulus_sets


class PreviewForm(forms.Form):
    """How a researcher wants to take a study."""

    pace = forms.ChoiceField(
        label="How",
        choices=[("true", "As participants do, with the true timing"), ("hurried", "Speed through it")],
        initial="true",
        widget=forms.RadioSelect,
        help_text=(
            f"In fast mode, every phase and pause is {HURRY} times shorter and the page answers by itself, so that "
            "every screen passes by in a minute or two. Rounds can be skipped either way."
        ),
    )
    session = forms.IntegerField(min_value=1, initial=1)

    def __init__(self, *args: Any, sessions: int, **arguments: Any) -> None:
        super().__init__(*args, **arguments)
        field = self.fields["session"]
        if isinstance(field, forms.IntegerField):
            field.max_value = sessions
            field.label = f"Which of the {sessions:,} planned sessions"
            field.widget.attrs["max"] = sessions

    @property
    def choices(self) -> dict[str, Any]:
        """As the service takes them."""
        return {"slot": self.cleaned_data["session"] - 1, "is_hurried": self.cleaned_data["pace"] == "hurried"}


class InviteForm(forms.Form):
    """A person with an account, and what they may do."""

    username = forms.CharField(
        label="Name of the account",
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
        help_text="An administrator makes an account on the server: python manage.py user add NAME",
    )
    role = forms.ChoiceField(label="Role", choices=Role.choices, widget=forms.RadioSelect)


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
        StimulusSet.objects.exclude(completed_at=None), label="Trained on", empty_label=None
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
    overhead = forms.FloatField(label="Overhead of the site", min_value=1, max_value=10, initial=1)
    kg_co2_per_kwh = forms.FloatField(label="kg CO2 a kWh", min_value=0, max_value=5)
    allow_download = forms.BooleanField(
        label="Fetch published weights from the network if they are not on this machine", required=False
    )

    _recipe = ("epochs", "learning_rate", "momentum", "batch", "held_out", "patience", "seed")
    _power = ("power_w", "overhead", "kg_co2_per_kwh")

    def __init__(self, given: Any = None, *, user: User, spec: str = "") -> None:
        from analysis.retraining.energy import KG_CO2_PER_KWH

        super().__init__(given, initial={"spec": spec, "kg_co2_per_kwh": KG_CO2_PER_KWH})
        self.has_sets = has_stimuli()
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
        from analysis.retraining.energy import usual_power_w
        from analysis.retraining.training import Recipe

        given = dict(self.cleaned_data)
        recipe = Recipe(**{name: given.pop(name) for name in self._recipe})
        power = {name: given.pop(name) for name in self._power}
        power["power_w"] = power["power_w"] or usual_power_w(given["device"])
        return {**given, "recipe": recipe, "power": power}
