"""An operation's answer to JSON, walked along the output shape: an answer that is not in the model cannot leave."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from humanexp.sites.marketplace.api.protocol import service
from humanexp.sites.marketplace.api.protocol.service import Shape
from humanexp.sites.marketplace.errors import ResponseDrift

_PLAIN_TYPES = {"string": str, "integer": int, "long": int, "boolean": bool}


def render(operation: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """JSON-ready; members that are None are left out, times become epoch seconds."""
    rendered: dict[str, Any] = _render(service.output_shape(operation), answer, operation)
    return rendered


def _render(shape: Shape, value: Any, path: str) -> Any:
    kind = shape.type_name
    if kind == "structure":
        unknown = set(value) - set(shape.members)
        if unknown:
            raise ResponseDrift(f"{path}: {', '.join(sorted(unknown))} not in the model.")
        missing = [name for name in shape.required_members if value.get(name) is None]
        if missing:
            raise ResponseDrift(f"{path}: {', '.join(missing)} missing.")
        return {
            name: _render(shape.members[name], member, f"{path}.{name}")
            for name, member in value.items()
            if member is not None
        }
    if kind == "list":
        return [_render(shape.member, member, f"{path}[{number}]") for number, member in enumerate(value)]
    if kind == "timestamp":
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise ResponseDrift(f"{path}: {value!r} is no time with a zone.")
        return round(value.timestamp(), 3)
    expected = _PLAIN_TYPES.get(kind)
    if expected is None or type(value) is not expected and not (expected is str and isinstance(value, str)):
        raise ResponseDrift(f"{path}: {value!r} is no {kind}.")
    if getattr(shape, "enum", None) and value not in shape.enum:
        raise ResponseDrift(f"{path}: {value!r} is none of {', '.join(shape.enum)}.")
    if expected is str:
        _check_text(shape, str(value), path)
        return str(value)
    return value


def _check_text(shape: Shape, text: str, path: str) -> None:
    least, most, pattern = (shape.metadata.get(name) for name in ("min", "max", "pattern"))
    if (least is not None and len(text) < least) or (most is not None and len(text) > most):
        raise ResponseDrift(f"{path}: {len(text)} characters, from {least} to {most} are allowed.")
    if pattern and not re.search(pattern, text):
        raise ResponseDrift(f"{path}: {text[:80]!r} does not have the form {pattern}.")
