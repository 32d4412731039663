"""Reads study files, and writes the part of TOML that they use."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from typing import Any

from humanexp.core.errors import InputRefused

#: Tables within tables; a study has three. Everything that reads what a file says goes down with it.
DEEPEST = 12
#: TOML's own whole numbers have 64 bits.
_LARGEST = 2**64


def from_toml(text: str, *, source: str) -> dict[str, Any]:
    """What the text says, if it is TOML, not too deep, and holds no number that cannot be written out.

    Raises InputRefused naming the source and, for syntax, the line.
    """
    try:
        values = tomllib.loads(text)
    except RecursionError as error:
        raise _too_deep(source) from error
    except ValueError as error:
        raise InputRefused(f"{source} is no valid TOML: {error}.") from error
    _check_extent(values, source)
    return values


def _check_extent(values: Mapping[str, Any], source: str) -> None:
    """Level by level: dotted names nest as deep as a line is long."""
    level: list[Any] = [values]
    for _ in range(DEEPEST):
        if any(isinstance(value, int) and abs(value) >= _LARGEST for value in level):
            raise InputRefused(f"{source} holds a whole number of more than 64 bits: no setting takes one.")
        tables = [value.values() for value in level if isinstance(value, Mapping)]
        level = [inner for nest in (*tables, *(value for value in level if isinstance(value, list))) for inner in nest]
        if not level:
            return
    raise _too_deep(source)


def _too_deep(source: str) -> InputRefused:
    return InputRefused(f"{source} nests tables or lists more than {DEEPEST} deep: no setting does.")


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
