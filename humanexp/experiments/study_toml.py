"""Writes the part of TOML that study files use; tomllib reads it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def to_toml(values: Mapping[str, Any], *, table: str = "") -> str:
    """Text, numbers, truth values, lists of those, and nested tables; None is left out, TOML has no such value."""
    lines = [f"{_key(name)} = {_value(value)}" for name, value in values.items() if _is_plain(value)]
    parts = ["".join(f"{line}\n" for line in lines)]
    for name, value in values.items():
        if isinstance(value, Mapping):
            path = f"{table}.{_key(name)}" if table else _key(name)
            parts.append(f"[{path}]\n{to_toml(value, table=path)}")
    return "\n".join(part for part in parts if part)


def _is_plain(value: object) -> bool:
    return value is not None and not isinstance(value, Mapping)


def _key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else _text(name)


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            if math.isnan(value) or math.isinf(value):
                raise ValueError("a study holds finite numbers only")
            return repr(value)
        case str():
            return _text(value)
        case list() | tuple():
            return f"[{', '.join(_value(part) for part in value)}]"
    raise TypeError(f"no TOML for {type(value).__name__}")


def _text(value: str) -> str:
    # JSON's escapes are TOML's, but for the delete character, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
