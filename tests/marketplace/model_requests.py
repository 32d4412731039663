"""Requests made from botocore's service model: valid ones, and each way in which a value can break a rule.

The rules are the model's (required, type, min, max, pattern, enum) and the guide's, written down here once more so that
the server's own table is checked against something.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import botocore.session

SERVICE = botocore.session.Session().get_service_model("mturk")
OPERATIONS = sorted(SERVICE.operation_names)

YEAR = 31_536_000
#: Most characters, by member.
LENGTHS = {
    "Title": 128,
    "Description": 2000,
    "Keywords": 1000,
    "RequesterAnnotation": 255,
    "Subject": 200,
    "MessageText": 4096,
}
#: Most bytes.
BYTES = {"Question": 65_535, "Test": 65_535, "AnswerKey": 65_535}
#: Least and most.
NUMBERS = {
    "LifetimeInSeconds": (30, YEAR),
    "AssignmentDurationInSeconds": (30, YEAR),
    "AutoApprovalDelayInSeconds": (0, 2_592_000),
    "MaxAssignments": (1, 10**9),
}
#: Most entries.
ENTRIES = {"QualificationRequirements": 10, "IntegerValues": 15, "LocaleValues": 30, "WorkerIds": 100}
#: What stands for text of a certain form where the model says "string".
_TEXTS = {"Reward": "0.10", "BonusAmount": "0.10", "Country": "DE", "Subdivision": "BE"}

Path = tuple[str | int, ...]


def operation_parameters(operation: str, *, every: bool = True) -> dict[str, Any]:
    """A request that no rule on single values refuses: with every member, or with the required ones alone."""
    parameters: dict[str, Any] = _valid(SERVICE.operation_model(operation).input_shape, "", every)
    return parameters


def _valid(shape: Any, name: str, every: bool) -> Any:
    kind = shape.type_name
    if kind == "structure":
        names = shape.members if every else shape.required_members
        return {one: _valid(shape.members[one], one, every) for one in names}
    if kind == "list":
        return [_valid(shape.member, name, every)]
    if kind == "boolean":
        return False
    if kind == "timestamp":
        return 1_767_225_600
    if kind in ("integer", "long"):
        return NUMBERS.get(name, (1, 1))[0] or 1
    if shape.metadata.get("enum"):
        return shape.metadata["enum"][0]
    if name in _TEXTS:
        return _TEXTS[name]
    pattern = shape.metadata.get("pattern", "")
    return "A1" if pattern.startswith("^A") else "3A" if pattern else "text"


@dataclass(frozen=True)
class Violation:
    """A value at a place, and the rule it breaks."""

    operation: str
    path: Path
    rule: str
    value: Any

    def __str__(self) -> str:
        return f"{self.operation}-{'.'.join(map(str, self.path))}-{self.rule}"

    def parameters(self) -> dict[str, Any]:
        return with_value(operation_parameters(self.operation), self.path, self.value)


class Left:
    """Stands for a member that is left out."""


def with_value(parameters: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    changed: Any = copy.deepcopy(parameters)
    place = changed
    for step in path[:-1]:
        place = place[step]
    if value is Left:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return dict(changed)


def violations(operation: str) -> Iterator[Violation]:
    """Every rule of every member, broken once."""
    for path, rule, value in _broken(SERVICE.operation_model(operation).input_shape, "", ()):
        yield Violation(operation, path, rule, value)


def _broken(shape: Any, name: str, path: Path) -> Iterator[tuple[Path, str, Any]]:
    kind, limits = shape.type_name, shape.metadata
    if kind == "structure":
        yield (*path, "Colour"), "unknown", "red"
        for one in shape.required_members:
            yield (*path, one), "required", Left
        for one, inner in shape.members.items():
            yield from _broken(inner, one, (*path, one))
        return
    yield path, "type", {"string": 7, "list": "text", "boolean": "yes", "timestamp": [1]}.get(kind, "many")
    if kind == "list":
        if name in ENTRIES:
            valid = _valid(shape.member, name, True)
            yield path, "entries", [valid] * (ENTRIES[name] + 1)
        yield from _broken(shape.member, name, (*path, 0))
    if kind in ("integer", "long"):
        least, most = NUMBERS.get(name, (limits.get("min"), limits.get("max")))
        if least is not None:
            yield path, "least", least - 1
        if most is not None:
            yield path, "most", most + 1
    if kind != "string":
        return
    if limits.get("enum"):
        yield path, "enum", "Nonsense"
    if limits.get("pattern"):
        yield path, "pattern", "no such form"
        yield path, "pattern-newline", f"{_valid(shape, name, True)}\n"
    if limits.get("min"):
        yield path, "shortest", ""
    longest = limits.get("max") or LENGTHS.get(name)
    if longest:
        yield path, "longest", "A" * (longest + 1)
    if name in BYTES:
        yield path, "bytes", "ä" * (BYTES[name] // 2 + 1)
    yield path, "nul", "A\x00"
