"""Which field of the form holds which setting of the study file; everything else goes through `more`, untouched."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from humanexp.core.errors import InputRefused
from humanexp.experiments.study_toml import from_toml, to_toml

Path = tuple[str, ...]
#: Field by setting. The task is told by what the file holds, see `task_of`.
PATHS: Mapping[str, Path] = {
    "title": ("title",),
    "slug": ("slug",),
    "family": ("family",),
    "stimuli": ("stimuli",),
    "population": ("population",),
    "language": ("language",),
    "protocol": ("protocol",),
    "rules": ("rules",),
    "seed": ("seed",),
    "max_sessions_per_worker": ("max_sessions_per_worker",),
    "calibrate_size": ("calibrate_size",),
    "consent_version": ("consent_version",),
    "consent": ("consent",),
    "debrief": ("debrief",),
    "contact": ("recruitment", "contact"),
    "sessions": ("design", "sessions"),
    "block_trials": ("design", "block_trials"),
    "main_trials": ("design", "main_trials"),
    "practice_trials": ("design", "practice_trials"),
    "qualification_trials": ("design", "qualification_trials"),
    "gold_trials": ("design", "gold_trials"),
    "negative_trials": ("design", "negative_trials"),
    "consistency_pairs": ("design", "consistency_pairs"),
    "clean_trials": ("design", "clean_trials"),
    "answers_per_stimulus": ("design", "answers_per_stimulus"),
    "overlap": ("design", "overlap"),
    "corruption_order": ("design", "corruption_order"),
    "discrimination_form": ("design", "discrimination", "form"),
    "discrimination_trials": ("design", "discrimination", "trials"),
    "discrimination_sentinels": ("design", "discrimination", "sentinels"),
    "discrimination_practice": ("design", "discrimination", "practice"),
    "new_pictures": ("design", "validation", "new_pictures"),
    "second_showings": ("design", "validation", "second_showings"),
    "positive": ("design", "validation", "positive"),
    "negative": ("design", "validation", "negative"),
    "validation_practice": ("design", "validation", "practice"),
    "answers_per_picture": ("design", "validation", "answers_per_picture"),
    "shown": ("design", "validation", "shown"),
}
CATEGORISATION, BOTH, DISCRIMINATION, VALIDATION = "categorisation", "both", "discrimination", "validation"
#: Settings that say nothing in the other tasks.
OF_NAMING = (
    "main_trials",
    "practice_trials",
    "qualification_trials",
    "gold_trials",
    "negative_trials",
    "consistency_pairs",
    "clean_trials",
    "answers_per_stimulus",
    "overlap",
    "corruption_order",
)
OF_PAIRS = tuple(name for name in PATHS if name.startswith("discrimination_"))
OF_VALIDATION = tuple(name for name, path in PATHS.items() if path[:2] == ("design", "validation"))
_SILENT: Mapping[str, tuple[str, ...]] = {
    CATEGORISATION: (*OF_PAIRS, *OF_VALIDATION),
    BOTH: OF_VALIDATION,
    DISCRIMINATION: (*OF_NAMING, *OF_VALIDATION),
    VALIDATION: (*OF_NAMING, *OF_PAIRS),
}


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
    for name, path in PATHS.items():
        value = given.get(name)
        is_given = value is not None and value is not False and value != ""
        if is_given and name not in _SILENT[task]:
            _put(values, path, value)
    return _merged(values, _read_more(str(given.get("more") or "")))


def to_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """What the form is filled with, of a study file; settings without a field stand in `more` as TOML."""
    rest = copy.deepcopy(dict(values))
    given: dict[str, Any] = {"task": task_of(values)}
    protocol = rest.get("protocol")
    if isinstance(protocol, dict):
        given["protocol"] = protocol.pop("name", "vcr")
        if not protocol:
            del rest["protocol"]
    for name, path in PATHS.items():
        if name != "protocol" or not isinstance(protocol, dict):
            value = _take(rest, path)
            if value is not None:
                given[name] = value
    _drop_empty(rest)
    given["more"] = to_toml(rest) if rest else ""
    return given


def _read_more(text: str) -> dict[str, Any]:
    try:
        return from_toml(text, source="The text of the further settings")
    except InputRefused as error:
        raise InputRefused(error.message, fields={"more": error.message}) from error


def _merged(values: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    own = more.get("protocol")
    if isinstance(own, Mapping):
        values["protocol"] = {"name": values.get("protocol", "vcr"), **own}
    named = {path: name for name, path in PATHS.items()}
    for path, value in _leaves(more):
        if path[0] == "protocol" and isinstance(own, Mapping):
            continue
        if path in named:
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


def _take(values: dict[str, Any], path: Path) -> Any:
    """Take a plain value out; None where there is none, or a table stands there."""
    for name in path[:-1]:
        found = values.get(name)
        if not isinstance(found, dict):
            return None
        values = found
    value = values.get(path[-1])
    return values.pop(path[-1]) if isinstance(value, str | int | float) else None


def _drop_empty(values: dict[str, Any]) -> None:
    for name in list(values):
        if isinstance(values[name], dict):
            _drop_empty(values[name])
            if not values[name]:
                del values[name]
