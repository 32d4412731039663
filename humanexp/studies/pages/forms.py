"""Which field of the form holds which setting of the study file, and what a file says that differs from every study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_origin

from django import forms
from django.forms.boundfield import BoundField
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from analysis.errors import InvalidInput
from analysis.persons.sentinels import SENTINELS
from analysis.study.base import InForm, limits, model_in, plain_type
from analysis.study.design import DesignConfig, DiscriminationDesign
from analysis.study.protocol import PROTOCOLS
from analysis.study.rules import RULE_SETS
from analysis.study.study import StudyConfiguration
from analysis.study.toml import read_toml, to_toml
from analysis.study.validation import ValidationDesign
from humanexp.core.errors import InputRefused
from humanexp.core.languages import languages
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.power import LIMITS, PlannedAnswers, PowerQuestion

Path = tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """A setting with a field of its own: where it stands in a study file, and how the form asks for it."""

    path: Path
    info: FieldInfo
    form: InForm


def settings_in(kind: type[BaseModel], path: Path = ()) -> Iterator[tuple[str, Setting]]:
    """Every setting that the form asks for, by the name of its field, in the order of the specification."""
    for name, info in kind.model_fields.items():
        form = next((one for one in info.metadata if isinstance(one, InForm)), None)
        inner = model_in(info.annotation)
        if form is not None:
            yield form.name or name, Setting((*path, name), info, form)
        elif inner is not None and get_origin(info.annotation) is not dict:  # whose names are the file's own
            yield from settings_in(inner, (*path, name))


#: By the name of the field. The task is told by what the file holds, see `task_of`.
SETTINGS: Mapping[str, Setting] = dict(settings_in(StudyConfiguration))
CATEGORISATION, BOTH, DISCRIMINATION, VALIDATION = "categorisation", "both", "discrimination", "validation"


#: What a choice of yes or no stands for in a file.
_CHOSEN: Mapping[Any, bool] = {"yes": True, "no": False}
#: Parts of the form that say nothing in a task.
_SILENT: Mapping[str, tuple[str, ...]] = {
    CATEGORISATION: ("pairs", "validation", "judging"),
    BOTH: ("validation", "judging"),
    DISCRIMINATION: ("naming", "persons", "validation", "judging"),
    VALIDATION: ("naming", "persons", "pairs"),
}


def field_of(place: str) -> str:
    """The field of the form for a place in the file; `more` for settings without one, empty for the whole."""
    path = tuple(place.split("."))
    if path[-1].isdecimal():  # an entry of a list, which has one field
        path = path[:-1]
    names = (name for name, setting in SETTINGS.items() if setting.path == path)
    return next(names, "more") if place else ""


def task_of(values: Mapping[str, Any]) -> str:
    """What a study file asks people to do."""
    design = values.get("design")
    design = design if isinstance(design, Mapping) else {}
    if "validation" in design:
        return VALIDATION
    if "discrimination" in design:
        return DISCRIMINATION if design.get("main_trials") == 0 else BOTH
    return CATEGORISATION


def to_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a study file, of what the form holds; fields that are empty are left out, and have their defaults.

    Raises InputRefused, with the field `more`, where its text is no TOML or sets what has a field of its own.
    """
    task = given.get("task") or CATEGORISATION
    values: dict[str, Any] = {}
    if task == DISCRIMINATION:
        _put(values, ("design", "main_trials"), 0)
    for table in {BOTH: ("discrimination",), DISCRIMINATION: ("discrimination",), VALIDATION: ("validation",)}.get(
        task, ()
    ):
        values.setdefault("design", {})[table] = {}
    for name, setting in SETTINGS.items():
        value = given.get(name)
        is_given = value is not None and value is not False and value not in ("", [])
        if is_given and setting.form.part not in _SILENT[task]:
            _put(values, setting.path, _CHOSEN.get(value, value) if _is_yes_or_no(setting) else value)
    return _merged(values, _read_more(str(given.get("more") or "")))


def to_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """What the form is filled with, of a study file; settings without a field stand in `more` as TOML."""
    rest = dict(_leaves(values))
    given: dict[str, Any] = {"task": task_of(values)}
    if isinstance(values.get("protocol"), Mapping):
        given["protocol"] = rest.pop(("protocol", "name"), "vcr")
    for name, setting in SETTINGS.items():
        if isinstance(rest.get(setting.path), str | int | float | list):
            value = rest.pop(setting.path)
            given[name] = ("yes" if value else "no") if _is_yes_or_no(setting) else value
    more: dict[str, Any] = {}
    for path, value in rest.items():
        if value != {}:
            _put(more, path, value)
    given["more"] = to_toml(more) if more else ""
    return given


def _is_yes_or_no(setting: Setting) -> bool:
    """Whether a setting that is on by default has a choice in place of a box: an unticked box states nothing."""
    return setting.form.choices is not None and plain_type(setting.info.annotation) is bool


def _read_more(text: str) -> dict[str, Any]:
    try:
        return read_toml(text, source="The text of the further settings")
    except InvalidInput as error:
        raise InputRefused(str(error), fields={"more": str(error)}) from error


def _merged(values: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    own = more.get("protocol")
    if isinstance(own, Mapping):
        values["protocol"] = {"name": values.get("protocol", "vcr"), **own}
    paths = {setting.path for setting in SETTINGS.values()}
    for path, value in _leaves(more):
        if path[0] == "protocol" and isinstance(own, Mapping):
            continue
        if path in paths:
            sentence = f"{'.'.join(path)} has a field of its own: take it out of the further settings."
            raise InputRefused(sentence, fields={"more": sentence})
        _put(values, path, value)
    return values


def _leaves(table: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, (*path, name))
        else:
            yield (*path, name), value


def _put(values: dict[str, Any], path: Path, value: Any) -> None:
    for name in path[:-1]:
        values = values.setdefault(name, {})
    values[path[-1]] = value


def stated(configuration: StudyConfiguration) -> dict[str, Any]:
    """Values of a study file from which `StudyConfiguration.from_dict` makes the same study."""
    values: dict[str, Any] = configuration.to_dict()
    usual = StudyConfiguration(title=configuration.title, stimuli=configuration.stimuli).to_dict()
    always = ("title", "stimuli", "slug", "family", "population", "language", "rules", "max_sessions_per_worker")
    short = {name: value for name, value in values.items() if name in always or value != usual.get(name)}
    short.pop("protocol", None)
    return {**short, **_protocol(values["protocol"]), "design": _design(values["design"])}


def _protocol(values: Mapping[str, Any]) -> dict[str, Any]:
    name = values["name"]
    if name not in PROTOCOLS:
        return {"protocol": dict(values)}
    own = _differing(values, PROTOCOLS[name].config.to_dict())
    return {"protocol": {"name": name, **own} if own else name}


def _design(values: Mapping[str, Any]) -> dict[str, Any]:
    short = _differing(values, DesignConfig().to_dict())
    for name, block in (("discrimination", DiscriminationDesign()), ("validation", ValidationDesign())):
        if values.get(name) is not None:
            short[name] = _differing(values[name], block.to_dict())
    if values.get("validation") is not None:
        short.pop("main_trials", None)  # such a study has none
    return short


def _differing(values: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value != usual.get(name)}


#: Most characters of a study file, pasted or uploaded.
LONGEST_FILE = 100_000


def _text(label: str, *, rows: int = 0, help_text: str = "", **attributes: str) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows, **attributes}) if rows else forms.TextInput(attrs=attributes)
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text, max_length=20_000)


class LinesField(forms.CharField):
    """Texts, one a line; empty lines are none."""

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> list[str]:
        return [line.strip() for line in str(super().clean(value)).splitlines() if line.strip()]


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
    if get_origin(kind) is tuple and form.rows:
        lines = forms.Textarea(attrs={"rows": form.rows})
        return LinesField(label=label, help_text=help_text, required=False, widget=lines, max_length=20_000)
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
            (CATEGORISATION, "Name what was shown"),
            (BOTH, "Name, then compare corruptions"),
            (DISCRIMINATION, "Compare corruptions"),
            (VALIDATION, "Is it really one?"),
        ],
    )
    more = _text("Further settings, as TOML", rows=6, spellcheck="false")

    def __init__(self, *args: Any, sets: list[StimulusSet], **arguments: Any) -> None:
        super().__init__(*args, **arguments)
        self.fields = {name: field_for(setting) for name, setting in SETTINGS.items()} | self.fields
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
            part: [self[name] for name, setting in SETTINGS.items() if setting.form.part == part]
            for part in ("naming", "persons", "pairs", "validation", "judging", "ethics", "texts", "record")
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
