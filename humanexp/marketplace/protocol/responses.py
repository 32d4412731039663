"""An operation's answer to JSON, walked along the output shape: an answer that is not in the model cannot leave."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from humanexp.marketplace.errors import ResponseDrift
from humanexp.marketplace.protocol import service
from humanexp.marketplace.protocol.service import Shape

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
    return str(value) if expected is str else value
