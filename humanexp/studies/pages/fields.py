"""Which field of the form holds which setting of the study file, and what a file says that differs from every study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from analysis.errors import InvalidInput
from analysis.study.base import InForm, model_in, plain_type
from analysis.study.design import DesignConfig, DiscriminationDesign
from analysis.study.protocol import PROTOCOLS
from analysis.study.study import StudyConfiguration
from analysis.study.toml import read_toml, to_toml
from analysis.study.validation import ValidationDesign
from humanexp.core.errors import InputRefused

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
    CATEGORISATION: ("pairs", "validation"),
    BOTH: ("validation",),
    DISCRIMINATION: ("naming", "persons", "validation"),
    VALIDATION: ("naming", "persons", "pairs"),
}


def field_of(place: str) -> str:
    """The field of the form for a place in the file; `more` for settings without one, empty for the whole."""
    path = tuple(place.split("."))
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
