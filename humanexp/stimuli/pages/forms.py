from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.utils.text import capfirst

from analysis.corruptions import CORRUPTIONS, FAMILIES
from analysis.corruptions.imagenet_c import LEVELS
from analysis.native_size import Enlargement
from analysis.persons.sentinels import find_sentinel
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.core.names import NameField
from humanexp.stimuli.models import Framing, Sampling, SourceSet, StimulusSet
from humanexp.stimuli.selectors import sources
from humanexp.stimuli.selectors.labels import label_choices
from humanexp.stimuli.selectors.sets import Filters
from humanexp.stimuli.services.descriptions import made_families, plain_functions_beside
from humanexp.stimuli.services.sources import MOST_PROVENANCE, ImportOrder
from humanexp.stimuli.sources import is_storage_configured

#: How sets can be made here; the others come from elsewhere.
_SAMPLINGS = [choice for choice in Sampling.choices if choice[0] != Sampling.IMPORTED]
_COUNT = 1000


@dataclass(frozen=True)
class FunctionChoice:
    """A corruption function as the form offers it."""

    name: str
    label: str
    is_chosen: bool


class StimulusSetForm(forms.Form):
    source_set = forms.ModelChoiceField(SourceSet.objects.none(), label="Pictures", empty_label=None)
    name = NameField()
    sampling = forms.TypedChoiceField(
        label="Strengths",
        choices=_SAMPLINGS,
        initial=Sampling.EVEN,
        empty_value=Sampling.EVEN,
        required=False,
        widget=forms.RadioSelect,
    )
    corruptions = forms.MultipleChoiceField(label="Corruption functions", widget=forms.CheckboxSelectMultiple)
    count = forms.IntegerField(
        label="Stimuli per function",
        min_value=1,
        initial=_COUNT,
        required=False,
        help_text=(
            "1,000 put 25 into each of 40 bins of visual change; 20 are enough. ImageNet-C fixes it at 5 an original."
        ),
    )
    size_px = forms.IntegerField(
        label="Size in pixels",
        initial=224,
        help_text="The side of the square that is shown. Visual change depends on it, so a set has one size.",
    )
    enlarged = forms.IntegerField(
        label="Enlarged, times",
        min_value=1,
        initial=1,
        required=False,
        help_text=(
            "How many times small pictures are enlarged after they were corrupted, each pixel as a square: 7 for "
            "CIFAR-10, 8 for MNIST at 224 px. Pictures must have the size divided by it. With 1, they are scaled."
        ),
    )
    enlarge = forms.BooleanField(
        label="Enlarge small pictures",
        required=False,
        help_text="Pictures smaller than the size are refused otherwise: enlarging blurs them before any corruption.",
    )
    framing = forms.TypedChoiceField(
        label="Cut",
        choices=Framing.choices,
        initial=Framing.WHOLE,
        empty_value=Framing.WHOLE,
        required=False,
        widget=forms.RadioSelect,
    )
    with_plain = forms.BooleanField(
        label="Also for practice and plain pairs",
        initial=True,
        required=False,
        help_text=(
            "One stimulus per picture for each of two more functions, which differ plainly. Same/different and ABX use "
            "them for practice, so that no one is trained on the compared functions."
        ),
    )
    person_families = forms.MultipleChoiceField(
        label="Also sentinels of persons",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=(
            "Pictures that people and machines name differently, made of each picture that lends itself. A study shows "
            "at most 4 a session, outside all curves, to see whether people answered."
        ),
    )
    cue_conflicts = forms.ModelChoiceField(
        SourceSet.objects.none(),
        label="Cue conflicts, as further sentinels",
        required=False,
        empty_label="none",
        help_text=(
            "A set of pictures with the shape of one category and the texture of another, with files named like "
            "cat3-elephant1."
        ),
    )
    seed = forms.IntegerField(
        label="Seed", min_value=0, initial=0, help_text="The same pictures and seed give the same stimuli."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        source_sets, functions = self.fields["source_set"], self.fields["corruptions"]
        if isinstance(source_sets, forms.ModelChoiceField):
            source_sets.queryset = sources.source_sets()
            first = source_sets.queryset.first()
            self.fields["name"].initial = _free_name(first)
            self._suggest(sources.enlargements(source_sets.queryset), first)
        families, conflicts = self.fields["person_families"], self.fields["cue_conflicts"]
        if isinstance(families, forms.MultipleChoiceField) and isinstance(conflicts, forms.ModelChoiceField):
            families.choices = [(one.name, one.label) for one in made_families()]
            conflicts.queryset = sources.source_sets()
        if isinstance(functions, forms.MultipleChoiceField):
            functions.choices = [(name, corruption.label) for name, corruption in CORRUPTIONS.items()]

    def _suggest(self, found: Mapping[int, Enlargement], first: SourceSet | None) -> None:
        """Size and factor of sets of small pictures: of the first one at once, of others when they are chosen."""
        size_px, enlarged = self.fields["size_px"], self.fields["enlarged"]
        suggested = {pk: [one.size_px, one.enlarged] for pk, one in found.items()}
        enlarged.widget.attrs["data-suggested"] = json.dumps(suggested)
        if first is not None and first.pk in found:
            size_px.initial, enlarged.initial = suggested[first.pk]

    def clean_enlarged(self) -> int:
        return self.cleaned_data["enlarged"] or 1

    def clean(self) -> dict[str, Any]:
        """A function count belongs to every sampling but the published levels."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("sampling") == Sampling.LEVELS:
            cleaned["count"] = 0
            without = [name for name in cleaned.get("corruptions", []) if name not in LEVELS]
            if without:
                self.add_error(
                    "corruptions",
                    "ImageNet-C publishes no levels of {names}.".format(
                        names=", ".join(name.replace("_", " ") for name in without)
                    ),
                )
        elif "count" in cleaned and cleaned["count"] is None:
            self.add_error("count", "This field is required.")
        if cleaned.get("with_plain") and cleaned.get("corruptions"):
            try:
                plain_functions_beside(cleaned["corruptions"])
            except InvalidRequest as error:
                self.add_error("with_plain", error.message)
        return cleaned

    def families(self) -> list[tuple[str, list[FunctionChoice]]]:
        """The functions by family: the built-in ones first, in their order."""
        chosen = set(self["corruptions"].value() or ())
        families: dict[str, list[FunctionChoice]] = {functions[0].family: [] for functions in FAMILIES}
        for name, corruption in CORRUPTIONS.items():
            choice = FunctionChoice(name, corruption.label, name in chosen)
            families.setdefault(corruption.family, []).append(choice)
        return [(capfirst(family), found) for family, found in families.items() if found]


def _free_name(source_set: SourceSet | None) -> str:
    """The first set that is made of some pictures is called as they are."""
    if source_set is None or StimulusSet.objects.filter(name=source_set.name).exists():
        return ""
    return source_set.name


class BrowseForm(forms.Form):
    """Which stimuli are shown; a value that cannot be used is told, and left out."""

    corruption = forms.ChoiceField(label="Corruption function", required=False)
    category = forms.ChoiceField(label="Category", required=False)
    only = forms.ChoiceField(
        label="Target",
        required=False,
        choices=[("", "all"), ("reached", "reached"), ("unreached", "out of reach")],
    )
    low = forms.FloatField(label="Δv from", required=False, min_value=0, max_value=1)
    high = forms.FloatField(label="to", required=False, min_value=0, max_value=1)

    def __init__(self, stimulus_set: StimulusSet, categories: list[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        functions, chosen = self.fields["corruption"], self.fields["category"]
        if isinstance(functions, forms.ChoiceField) and isinstance(chosen, forms.ChoiceField):
            labels = {
                name: CORRUPTIONS[name].label if name in CORRUPTIONS else name for name in stimulus_set.corruptions
            }
            functions.choices = [
                *labels.items(),
                ("none", "clean pictures"),
                *((name, find_sentinel(name).label) for name in stimulus_set.person_families),
                ("all", "all functions side by side"),
            ]
            chosen.choices = [("", "all"), *((name, name) for name in categories)]
        for name in ("low", "high"):
            self.fields[name].widget.attrs |= {"step": "0.025", "inputmode": "decimal"}
        self.first = next(iter(stimulus_set.corruptions), "none")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        low, high = cleaned.get("low"), cleaned.get("high")
        if low is not None and high is not None and low >= high:
            self.add_error("high", f"The range ends before it begins: give a larger number than {low:g}.")
        return cleaned

    def filters(self) -> Filters:
        """What to show, with everything that could be read."""
        self.is_valid()
        cleaned = self.cleaned_data
        low, high = cleaned.get("low"), cleaned.get("high")
        high = 1.0 if high is None else high
        return Filters(
            corruption=cleaned.get("corruption") or self.first,
            low=0.0 if low is None else low,
            high=high,
            includes_high=high >= 1,
            category=cleaned.get("category") or "",
            only=cleaned.get("only") or "",
        )


class NotesForm(forms.Form):
    provenance = forms.CharField(
        label="Where the pictures come from",
        required=False,
        max_length=MOST_PROVENANCE,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Names, addresses, how they were chosen: what a methods section needs.",
    )
    licence = forms.CharField(label="Licence", required=False, max_length=200)


class ImportForm(NotesForm):
    name = NameField()
    archive = forms.FileField(
        label="Zip archive",
        required=False,
        widget=forms.FileInput(attrs={"accept": ".zip,application/zip", "data-drop": ""}),
        help_text=(
            "One folder for each label or WordNet id, pictures and a table with the columns path and category, or "
            "files of arrays: CIFAR-10 for Python, IDX files of MNIST, .npz."
        ),
    )
    storage_prefix = forms.CharField(label="Or everything in the storage under", required=False, max_length=500)
    labels = forms.ChoiceField(
        label="Labels",
        required=False,
        help_text="What the pictures show. Folders and tables name labels by id, word or synonym, or by their number.",
    )
    factors = forms.CharField(
        label="Further columns of the table",
        required=False,
        max_length=300,
        help_text="Properties that stay with each picture, such as background, texture. Names, separated by commas.",
    )
    minimum_side_px = forms.IntegerField(
        label="Shortest side in pixels",
        min_value=0,
        initial=224,
        required=False,
        help_text=(
            "Smaller pictures cannot be used. Stimuli are 224 px unless you choose otherwise; 0 takes all sizes, and "
            "small squares, which can be shown enlarged."
        ),
    )
    skip_unusable = forms.BooleanField(
        label="Leave out pictures that cannot be used, and list them; otherwise a single one stops the import",
        required=False,
    )
    field_order = (
        "name",
        "archive",
        "storage_prefix",
        "labels",
        "factors",
        "minimum_side_px",
        "skip_unusable",
        "provenance",
        "licence",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["archive"].help_text += f" At most {settings.PICTURES_UPLOAD_MAX_MB} MB."
        labels = self.fields["labels"]
        if isinstance(labels, forms.ChoiceField):
            labels.choices = [(name, text) for name, text in label_choices().items()]
        if is_storage_configured():
            self.fields["storage_prefix"].help_text = settings.PICTURES_STORAGE.split("?")[0]
        else:
            del self.fields["storage_prefix"]
            self.fields["archive"].required = True

    @property
    def others(self) -> list[forms.BoundField]:
        """The fields after the archive, and after the folder that can take its place."""
        return [field for field in self if field.name not in ("name", "archive")]

    def clean_minimum_side_px(self) -> int:
        return self.cleaned_data["minimum_side_px"] or 0

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        given = [bool(cleaned.get("archive")), bool(cleaned.get("storage_prefix"))]
        if not self.errors and sum(given) != 1:
            raise forms.ValidationError("Give either an archive or a prefix of the storage.")
        return cleaned

    def order(self, *, by: User | None) -> ImportOrder:
        """What a valid form asks for."""
        names = ("name", "labels", "provenance", "licence", "minimum_side_px", "skip_unusable")
        return ImportOrder(
            **{name: self.cleaned_data[name] for name in names},
            factors=[name.strip() for name in self.cleaned_data["factors"].split(",") if name.strip()],
            by_id=by.pk if by else None,
        )
