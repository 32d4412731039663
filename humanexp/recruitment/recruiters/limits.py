"""What boto3 sends unchecked: lengths, patterns, enumerations, and the limits that stand only in the API guide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from humanexp.core.errors import InvalidRequest

#: Characters, by parameter (MTurk API guide).
MAX_CHARACTERS = {
    "Title": 128,
    "Description": 2_000,
    "Keywords": 1_000,
    "RequesterAnnotation": 255,
    "RequesterFeedback": 1_024,
    "Reason": 1_024,
    "Subject": 200,
    "MessageText": 4_096,
}
MAX_BYTES = {"Question": 65_535}
#: Smallest and largest number, by parameter.
RANGE = {
    "LifetimeInSeconds": (30, 31_536_000),
    "AssignmentDurationInSeconds": (30, 31_536_000),
    "AutoApprovalDelayInSeconds": (0, 2_592_000),
    "MaxAssignments": (1, 10**9),
    "NumberOfAdditionalAssignments": (1, 10**9),
}
#: Parameters that may not be blank.
REQUIRED_TEXT = frozenset({"Title", "Description", "Reason", "RequesterFeedback", "Subject", "MessageText"})


def check_parameters(shape: Any, parameters: Mapping[str, Any]) -> None:
    """Refuse what the service would refuse, before anything is sent. `shape` is botocore's input shape."""
    faults = dict(_faults(shape, parameters, ""))
    if faults:
        name, fault = next(iter(faults.items()))
        raise InvalidRequest(f"{name}: {fault}", fields=faults)


def _faults(shape: Any, value: Any, name: str) -> Iterator[tuple[str, str]]:
    match shape.type_name:
        case "structure":
            for member, given in value.items():
                if member in shape.members:
                    yield from _faults(shape.members[member], given, member)
        case "list":
            for given in value:
                yield from _faults(shape.member, given, name)
        case "string":
            yield from _text_faults(shape, str(value), name)
        case "integer" | "long" if name in RANGE:
            low, high = RANGE[name]
            if not low <= value <= high:
                yield name, f"{value} is not between {low} and {high}."


def _text_faults(shape: Any, text: str, name: str) -> Iterator[tuple[str, str]]:
    longest = MAX_CHARACTERS.get(name, shape.metadata.get("max"))
    if longest is not None and len(text) > longest:
        yield name, f"{len(text)} characters are more than the {longest} allowed."
    if name in MAX_BYTES and len(text.encode()) > MAX_BYTES[name]:
        yield name, f"the text is longer than {MAX_BYTES[name]} bytes."
    if name in REQUIRED_TEXT and not text.strip():
        yield name, "this may not be empty."
    if "pattern" in shape.metadata and not re.search(shape.metadata["pattern"], text):
        yield name, "this does not have the form that the recruiter asks for."
    if shape.enum and text not in shape.enum:
        yield name, f"this is none of {', '.join(shape.enum)}."
