from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_origin

from django import forms
from django.forms.boundfield import BoundField

from analysis.persons.sentinels import SENTINELS
from analysis.study.base import limits, plain_type
from analysis.study.protocol import PROTOCOLS
from analysis.study.rules import RULE_SETS
from humanexp.core.languages import languages
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.pages import fields
from humanexp.studies.pages.fields import Setting
from humanexp.studies.power import LIMITS, PlannedAnswers, PowerQuestion

#: Most characters of a study file, pasted or uploaded.
LONGEST_FILE = 100_000


def _text(label: str, *, rows: int = 0, help_text: str = "", **attributes: str) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows, **attributes}) if rows else forms.TextInput(attrs=attributes)
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text, max_length=20_000)


def field_for(setting: Setting) -> forms.Field:
    """The field for a setting: empty means the default, which stands in it in grey."""
    form, info = setting.form, setting.info
    label, help_text = form.label, form.help
    if form.choices is not None:
        choices = list(form.choices.items())
        widget = forms.RadioSelect if form.radio else forms.Select
        return forms.ChoiceField(label=label, help_text=help_text, required=False, choices=choices, widget=widget)
    kind = plain_type(info.annotation)
    usual = info.default if isinstance(info.default, str | int | float) else ""
    placeholder = form.placeholder if form.placeholder else f"{usual:g}" if isinstance(usual, float) else str(usual)
    if kind is bool:
        return forms.BooleanField(label=label, help_text=help_text, required=False)
    if kind in (int, float):
        attrs: dict[str, object] = {"placeholder": placeholder}
        attrs |= {name: limit for name, limit in zip(("min", "max"), limits(info), strict=True) if limit is not None}
        attrs |= {"inputmode": "numeric"} if kind is int else {"step": "0.05"}
        number = forms.IntegerField if kind is int else forms.FloatField
        return number(label=label, help_text=help_text, required=False, widget=forms.NumberInput(attrs=attrs))
    if kind is str:
        more = {"placeholder": placeholder} if placeholder else {}
        return _text(label, rows=form.rows, help_text=help_text, **more)
    if get_origin(kind) is tuple:
        boxes = forms.CheckboxSelectMultiple
        return forms.MultipleChoiceField(label=label, help_text=help_text, required=False, widget=boxes)
    return forms.CharField(label=label, help_text=help_text, required=False)


class StudyForm(forms.Form):
    """What most studies set, from the specification. Whether it makes sense, the study itself says."""

    task = forms.ChoiceField(
        label="Task",
        required=False,
        widget=forms.RadioSelect,
        choices=[
            (fields.CATEGORISATION, "Name what was shown"),
            (fields.BOTH, "Name, then compare corruptions"),
            (fields.DISCRIMINATION, "Compare corruptions"),
            (fields.VALIDATION, "Is it really one?"),
        ],
    )
    more = _text("Further settings, as TOML", rows=6, spellcheck="false")

    def __init__(self, *args: Any, sets: list[StimulusSet], **arguments: Any) -> None:
        super().__init__(*args, **arguments)
        self.fields = {name: field_for(setting) for name, setting in fields.SETTINGS.items()} | self.fields
        self._offer("stimuli", [one.name for one in sets])
        self._offer("protocol", list(PROTOCOLS))
        self._offer("rules", list(RULE_SETS))
        self._offer_languages()
        self._offer_families()

    def _offer(self, name: str, known: list[str]) -> None:
        """The choices, and what a file has said: what does not exist is refused by the study, in its words."""
        said = str(self[name].value() or "")
        choices = [*known, said] if said and said not in known else known
        self.fields[name].widget = forms.Select(choices=[(one, one) for one in choices])

    def _offer_languages(self) -> None:
        """Those of catalogues, too, and what a file has said: what does not exist is refused by the study."""
        said, field = str(self["language"].value() or ""), self.fields["language"]
        if isinstance(field, forms.ChoiceField):
            known = languages()
            field.choices = [*known.items(), *([(said, said)] if said and said not in known else [])]

    def _offer_families(self) -> None:
        """Every family of sentinels of persons; which of them a stimulus set has, the plan says."""
        field = self.fields["person_families"]
        said = [name for name in self["person_families"].value() or () if name not in SENTINELS]
        if isinstance(field, forms.MultipleChoiceField):
            known = [(one.name, one.label) for one in SENTINELS.values()]
            field.choices = [*known, *((name, name) for name in said)]

    def ethics_refused(self) -> bool:
        """Whether a block of consent is at fault: its part of the page is open then."""
        return any(field.errors for field in self.parts()["ethics"])

    def parts(self) -> dict[str, list[BoundField]]:
        """The fields by the part of the page in which they stand."""
        parts = {
            part: [self[name] for name, setting in fields.SETTINGS.items() if setting.form.part == part]
            for part in ("naming", "persons", "pairs", "validation", "ethics", "texts", "record")
        }
        parts["record"].append(self["more"])
        return parts


class StudyFileForm(forms.Form):
    """A study file, pasted or uploaded."""

    text = forms.CharField(
        label="Paste a study file",
        strip=False,
        required=False,
        max_length=LONGEST_FILE,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "class": "code"}),
    )
    file = forms.FileField(label="Or upload one", required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        uploaded = cleaned.get("file")
        if uploaded is not None:
            if uploaded.size > LONGEST_FILE:
                raise forms.ValidationError("A study file is text of at most 100,000 characters.")
            try:
                cleaned["text"] = uploaded.read().decode("utf-8")
            except UnicodeDecodeError:
                raise forms.ValidationError("This file is not UTF-8 text: save it as UTF-8.") from None
        if not (cleaned.get("text") or "").strip() and "text" not in self.errors:
            raise forms.ValidationError("Paste a study file, or choose one.")
        return cleaned


def _whole(name: str, label: str, help_text: str = "") -> forms.IntegerField:
    low, high = LIMITS[name]
    return forms.IntegerField(label=label, min_value=int(low), max_value=int(high), help_text=help_text)


def _number(name: str, label: str, help_text: str = "") -> forms.FloatField:
    low, high = LIMITS[name]
    widget = forms.NumberInput(attrs={"step": "any"})
    return forms.FloatField(label=label, min_value=low, max_value=high, help_text=help_text, widget=widget)


class PowerForm(forms.Form):
    """A question of power; what the design says stands in it already."""

    difference = _number(
        "difference",
        "Difference that matters",
        "Between the areas under the curves of two corruptions, from 0 to 1.",
    )
    people = _whole("people", "People whose sessions count", "Planned, less those whom the rules will exclude.")
    bend = _number("bend", "Accuracy is half-way down at Δv")
    image_sd = _number("image_sd", "Spread of pictures, logits")
    participant_sd = _number("participant_sd", "Spread of people, logits")
    runs = _whole("runs", "Simulated studies of each size")
    seed = _whole("seed", "Seed")

    def __init__(self, given: Any = None, *, planned: PlannedAnswers) -> None:
        super().__init__(given, initial=PowerQuestion(people=planned.people).to_dict())

    def believed(self) -> Iterator[BoundField]:
        """What stands behind the question: believed of people, and of the simulation."""
        return (self[name] for name in ("bend", "image_sd", "participant_sd", "runs", "seed"))

    @property
    def question(self) -> PowerQuestion:
        """What is asked, from a valid form."""
        return PowerQuestion(**self.cleaned_data)
