"""A request's body to an operation's parameters, refused unless the model and the guide allow every value."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from botocore.utils import parse_timestamp
from botocore.validate import ParamValidator

from humanexp.sites.marketplace.api.protocol import limits, service
from humanexp.sites.marketplace.api.protocol.service import Shape
from humanexp.sites.marketplace.errors import InvalidParameterValue, Unreadable

Parameters = dict[str, Any]


def read_parameters(operation: str, body: bytes) -> Parameters:
    """Parameters with timestamps as aware datetimes; a null counts as left out."""
    try:
        # Numbers such as NaN are not JSON.
        document = json.loads(body or b"{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as err:
        raise Unreadable from err
    if not isinstance(document, dict):
        raise Unreadable
    shape = service.input_shape(operation)
    parameters: Parameters = _convert(shape, document)
    report = ParamValidator().validate(parameters, shape)
    if report.has_errors():
        raise InvalidParameterValue(report.generate_report())
    problems: list[str] = []
    _check(operation, shape, parameters, "", problems)
    if problems:
        raise InvalidParameterValue("; ".join(problems))
    return parameters


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _convert(shape: Shape, value: Any) -> Any:
    """Nulls dropped and timestamps read; what does not fit the shape stays as it is, for the validator to name."""
    if shape.type_name == "structure" and isinstance(value, dict):
        return {
            name: _convert(shape.members[name], member) if name in shape.members else member
            for name, member in value.items()
            if member is not None
        }
    if shape.type_name == "list" and isinstance(value, list):
        return [_convert(shape.member, member) for member in value]
    if shape.type_name == "timestamp":
        return _timestamp(value)
    return value


def _timestamp(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return value
    try:
        if isinstance(value, str):
            read: datetime = parse_timestamp(value)
            return read if read.tzinfo else read.replace(tzinfo=UTC)
        return datetime.fromtimestamp(value, tz=UTC)
    except (ValueError, OverflowError, OSError, RuntimeError) as err:
        raise InvalidParameterValue(f"{value} is not a time this service can keep.") from err


def _check(operation: str, shape: Shape, value: Any, path: str, problems: list[str]) -> None:
    """What botocore's validator leaves out: max, pattern, enum, and the guide's limits."""
    name = path.rpartition(".")[2]
    if shape.type_name == "structure":
        for member, inner in value.items():
            _check(operation, shape.members[member], inner, f"{path}.{member}" if path else member, problems)
        return
    found = None
    if shape.type_name == "list":
        most = limits.MAXIMUM_ENTRIES.get(name)
        if most is not None and len(value) > most:
            found = f"{len(value)} entries, the most is {most}"
        for number, inner in enumerate(value):
            _check(operation, shape.member, inner, f"{path}[{number}]", problems)
    elif shape.type_name == "string":
        found = _string_problem(shape, name, value)
    elif shape.type_name in ("integer", "long"):
        found = _number_problem(shape, name, value)
    if not found and name in limits.NOT_EMPTY and not value and (operation, name) not in limits.MAY_BE_EMPTY:
        found = "must not be empty"
    if found:
        problems.append(f"{path}: {found}")


def _string_problem(shape: Shape, name: str, value: str) -> str | None:
    most, pattern = limits.MAXIMUM_LENGTH.get(name) or shape.metadata.get("max"), shape.metadata.get("pattern")
    if most is not None and len(value) > most:
        return f"{len(value)} characters, the most is {most}"
    most_bytes = limits.MAXIMUM_BYTES.get(name)
    if most_bytes is not None and len(value.encode(errors="replace")) > most_bytes:
        return f"{len(value.encode(errors='replace'))} bytes, the most is {most_bytes}"
    if pattern and not re.fullmatch(pattern.removeprefix("^").removesuffix("$"), value):
        return f"{value[:80]!r} does not have the form {pattern}"
    if shape.enum and value not in shape.enum:
        return f"{value[:80]!r} is none of {', '.join(shape.enum)}"
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        return "holds a character that no text can hold"
    return None


def _number_problem(shape: Shape, name: str, value: int) -> str | None:
    if isinstance(value, bool):
        return "a number is needed"
    least, most = limits.RANGE.get(name, (shape.metadata.get("min"), shape.metadata.get("max")))
    if (least is not None and value < least) or (most is not None and value > most):
        return f"{value} is not from {least} to {most}"
    if abs(value) >= 2**63:
        return f"{value} is too large"
    return None
