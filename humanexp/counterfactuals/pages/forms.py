from __future__ import annotations

from pathlib import Path
from typing import Any

from django import forms

from analysis.corruptions import CORRUPTIONS
from analysis.counterfactuals.summaries import DRAWINGS_ONLY, is_shipped
from humanexp.core.names import NameField
from humanexp.counterfactuals.models import CROWD, SearchRun
from humanexp.evaluations import specs
from humanexp.ledger.pages.money import MoneyField
from humanexp.recruiters import money
from humanexp.stimuli.models import SourceSet
from humanexp.studies.models import Population


def _typed(offered: str) -> forms.TextInput:
    return forms.TextInput(attrs={"class": "code", "spellcheck": "false", "list": offered})


class SearchForm(forms.Form):
    """A search; what a specification may say is told beside the field."""

    name = NameField(max_length=60)
    images = forms.ModelChoiceField(SourceSet.objects.order_by("name"), label="Pictures", to_field_name="name")
    classifier = forms.CharField(
        label="Model under test",
        max_length=300,
        widget=_typed("known-models"),
        help_text="For example export:fixtures/classifiers/clean.pt2, or torchvision:resnet50.",
    )
    generator = forms.CharField(
        label="Generator",
        max_length=300,
        initial="pixel:",
        widget=_typed("known-generators"),
        help_text=(
            "pixel: changes pixels within a bound; vqgan:CHECKPOINT changes the latents of an autoencoder; "
            "corruption:NAME walks along a corruption function."
        ),
    )
    oracle = forms.CharField(
        label="Oracle",
        max_length=600,
        widget=_typed("known-oracles"),
        help_text=(
            "classifier:MODEL, clip:MODEL, ensemble:A|B; or crowd: for people, who judge every step in a study of "
            "validation, round by round."
        ),
    )
    budget = forms.IntegerField(label="Most perturbations of a picture", min_value=1, max_value=1000, initial=10)
    pictures = forms.IntegerField(
        label="Number of pictures", min_value=0, initial=0, help_text="Even over categories; 0 takes all."
    )
    size_px = forms.IntegerField(label="Size, px", min_value=32, max_value=1024, initial=224)
    seed = forms.IntegerField(label="Seed", min_value=0, initial=0)
    greyscale = forms.BooleanField(label="Control: without colour", required=False)
    fgsm = forms.FloatField(
        label="Control: initial signed step", min_value=0, max_value=1, initial=0, help_text="Of 1; 0 for none."
    )
    answers_per_picture = forms.IntegerField(label="Crowd: people who judge a picture", min_value=1, initial=5)
    cap_cents = MoneyField(label="Crowd: most that all rounds may cost", required=False, help_text="Dollars.")
    scripted = forms.BooleanField(label="Crowd: scripted participants, no people", required=False)

    people = ("answers_per_picture", "cap_cents", "scripted")
    further = ("size_px", "seed", "fgsm", "greyscale")

    @property
    def is_opened(self) -> bool:
        """Whether a mistake lies in what is folded away."""
        return bool(self.errors.keys() & {*self.people, *self.further})

    @property
    def generator_caveat(self) -> str:
        """What to know where no autoencoder is offered but the one that comes with HumanExp."""
        files = [file for file in specs.shelf_files() if file.endswith((".pt", ".ckpt"))]
        return DRAWINGS_ONLY if all(is_shipped(Path(file)) for file in files) else ""

    @staticmethod
    def offered() -> dict[str, list[str]]:
        """What is offered while somebody types: nothing of it needs a file that is not there."""
        models = [specs.shown(spec) for spec in specs.shelf_specs() if spec.startswith("export:")]
        autoencoders = [specs.shown(f"vqgan:{file}") for file in specs.shelf_files() if file.endswith((".pt", ".ckpt"))]
        return {
            "known-models": models,
            "known-generators": ["pixel:", *autoencoders, *(f"corruption:{name}" for name in CORRUPTIONS)],
            "known-oracles": [CROWD, *(f"classifier:{spec}" for spec in models)],
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        is_crowd = cleaned.get("oracle") == CROWD
        if is_crowd and cleaned.get("cap_cents") is None and not cleaned.get("scripted"):
            self.add_error("cap_cents", "People cost money: say what all rounds may cost together.")
        if not is_crowd:
            cleaned["cap_cents"] = None
        return cleaned

    def described(self) -> SearchRun:
        """The search that is asked for, from a valid form."""
        given = {name: value for name, value in self.cleaned_data.items() if name not in ("images", "pictures")}
        population = Population.SCRIPTED if given.pop("scripted") else Population.PEOPLE
        return SearchRun(source_set=self.cleaned_data["images"], population=population.value, **given)


def alike(run: SearchRun) -> dict[str, Any]:
    """Fields of a search like this one, for a form in which the model, or the generator, is exchanged."""
    same = ("generator", "oracle", "budget", "size_px", "seed", "greyscale", "fgsm", "answers_per_picture")
    return {
        **{field: getattr(run, field) for field in same},
        "images": run.source_set.name,
        "cap_cents": "" if run.cap_cents is None else money.decimal(run.cap_cents),
        "pictures": run.counterfactuals.count(),
        "scripted": run.population == Population.SCRIPTED,
    }
