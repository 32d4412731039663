"""Study files and rule sets as text: read with the place of every refusal, and written."""

from __future__ import annotations

import bisect
import math
import tomllib
from collections.abc import Callable, Mapping
from typing import TypeVar

from analysis.errors import InvalidInput

#: Tables within tables; a study has four. Everything that reads what a file says goes down with it.
DEEPEST = 12
T = TypeVar("T")
#: What editors of Windows put in front of a text.
_BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"


def read_toml(text: str, *, source: str) -> dict[str, object]:
    """What the text says, if it is TOML, not too deep, and holds nothing that cannot be stored.

    Raises
    ------
    InvalidInput
        Naming the source, and the line or the setting.
    """
    try:
        values = tomllib.loads(text.removeprefix(_BYTE_ORDER_MARK))
    except RecursionError as error:
        raise _too_deep(source) from error
    except ValueError as error:
        raise InvalidInput(f"{source} is no valid TOML: {error}.") from error
    _check(values, (), source)
    return values


def _check(value: object, path: tuple[str, ...], source: str) -> None:
    """Refuse what TOML can say and no database stores: dates, infinite numbers, the null character."""
    if len(path) > DEEPEST:
        raise _too_deep(source)
    place = ".".join(path)
    match value:
        case Mapping():
            for name, inner in value.items():
                _check(inner, (*path, name), source)
                if "\x00" in name:
                    raise _refused(place, f"{place or 'The file'} has a name with the null character.")
        case list():
            for inner in value:
                _check(inner, (*path, ""), source)
        case str():
            if "\x00" in value:
                raise _refused(place, f"{place} holds the null character, which no database stores.")
        case float():
            if not math.isfinite(value):
                raise _refused(place, f"{place} must be a finite number, not {value!r}.")
        case int():
            if abs(value) >= 2**64:  # TOML's own have 64 bits
                raise _refused(place, f"{place} holds a whole number of more than 64 bits: no setting takes one.")
        case _:
            raise _refused(place, f"{place} must be text, a number, a list or a table, not {value!r}.")


def _refused(place: str, sentence: str) -> InvalidInput:
    return InvalidInput(sentence, fields={place.rstrip("."): sentence})


def _too_deep(source: str) -> InvalidInput:
    return InvalidInput(f"{source} nests tables or lists more than {DEEPEST} deep: no setting does.")


def from_toml(make: Callable[[Mapping[str, object]], T], text: str, *, source: str) -> T:
    """What `make` makes of the text; its refusals get the name of the file, and their line where they have one."""
    try:
        return make(read_toml(text, source=source))
    except InvalidInput as error:
        if not error.fields:
            raise
        raise type(error)(in_file(error, text, source=source), fields=error.fields) from error


def in_file(error: Exception, text: str, *, source: str = "") -> str:
    """The refusal with file and line in front of each of its sentences.

    Parameters
    ----------
    error : AnalysisError or ApplicationError
        ``fields`` has its sentences by their place.
    text : str
        The file.
    source : str
        Its name; without one ``Line 3, design.sessions: ...``.
    """
    fields: Mapping[str, str] = getattr(error, "fields", {})
    sentences = [_at(source, line_of(text, place), place, sentence) for place, sentence in fields.items() if place]
    return " ".join(sentences) or (f"{source}: {error}" if source else str(error))


def _at(source: str, line: int | None, place: str, sentence: str) -> str:
    if source:
        return f"{source}, line {line}: {sentence}" if line else f"{source}: {sentence}"
    where = f"Line {line}" if sentence.startswith(place) else f"Line {line}, {place}"
    return f"{where}: {sentence}" if line else sentence


def line_of(text: str, place: str) -> int | None:
    """The line, from 1, in which the file sets a place or opens the table that should; None where neither is.

    Found with the TOML reader itself: the statement begins on the last line without which its place is missing.
    """
    lines, path = text.splitlines(keepends=True), place.split(".")
    everything = _read(text)
    known = max(n for n in range(len(path) + 1) if _has(everything, path[:n]))
    if not known:
        return None

    def is_set_by(first_lines: int) -> bool:
        # A text or list of several lines is read to its end.
        ends = range(first_lines, len(lines) + 1)
        values = next(found for end in ends if (found := _read("".join(lines[:end]))) is not None)
        return _has(values, path[:known])

    return bisect.bisect_left(range(len(lines)), True, lo=1, key=is_set_by)


def _read(text: str) -> Mapping[str, object] | None:
    try:
        return tomllib.loads(text.removeprefix(_BYTE_ORDER_MARK))
    except ValueError:
        return None


def _has(values: object, path: list[str]) -> bool:
    for part in path:
        if isinstance(values, list) and part.isdecimal() and 0 < int(part) <= len(values):
            values = values[int(part) - 1]
        elif isinstance(values, Mapping) and part in values:
            values = values[part]
        else:
            return False
    return True


def to_toml(values: Mapping[str, object]) -> str:
    """The text of a file; None is left out, for TOML has no such value."""
    import tomli_w  # needed for writing alone: an exported study is analysed without it

    return tomli_w.dumps(_without_none(values))


def _without_none(values: Mapping[str, object]) -> dict[str, object]:
    return {
        name: _without_none(value) if isinstance(value, Mapping) else value
        for name, value in values.items()
        if value is not None
    }
