"""Files that an ONNX network's weights stand in, beside its graph: ``torch.onnx.export`` writes them so by default.

The graph is read as what it is, a message of Protocol Buffers, of which a few fields lead to tensors; so neither the
package onnx nor memory for the weights is needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from analysis.errors import ClassifierUnavailable

#: Kind of message in a field of a message, as far as it leads to tensors (onnx.proto3).
_FIELDS: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}
_EXTERNAL_DATA, _DATA_LOCATION, _IS_EXTERNAL = 13, 14, 1
_KEY, _VALUE = 1, 2
_VARINT, _EIGHT_BYTES, _COUNTED, _FOUR_BYTES = 0, 1, 2, 5
#: Graphs within graphs; what is deeper was made to exhaust the stack.
_DEEPEST = 60


def digest_of(path: Path, described: bytes) -> str:
    """SHA-256 over a network's graph, its description, and all files that its weights stand in.

    Raises
    ------
    ClassifierUnavailable
        If the graph is damaged, or one of the files is missing or named outside of its folder.
    """
    content = path.read_bytes()
    digest = hashlib.sha256(content + described)
    for location in sorted(_locations(content, path)):
        file = path.parent / location
        if not file.is_file():
            raise ClassifierUnavailable(
                f"{path}: its weights stand in {location}, and there is no such file beside it. Put it there, or "
                "export the network into one file (external_data=False)."
            )
        with file.open("rb") as stream:
            digest.update(f"\x00{location}\x00{hashlib.file_digest(stream, 'sha256').hexdigest()}".encode())
    return digest.hexdigest()


def _locations(content: bytes, path: Path) -> set[str]:
    try:
        found = set(_external(memoryview(content), "model", 0))
    except (ValueError, IndexError) as error:
        raise ClassifierUnavailable(f"{path}: the graph is damaged or cut off ({error}). Export it again.") from error
    for location in found:
        parts = PurePosixPath(location.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or ":" in location or not parts.parts:
            raise ClassifierUnavailable(
                f"{path}: its weights stand in {location!r}, which leads out of its folder. Export the network again, "
                "with its weights beside it."
            )
    return found


def _external(message: memoryview, kind: str, depth: int) -> Iterator[str]:
    """Names of files that tensors in a message stand in."""
    if depth > _DEEPEST:
        raise ValueError("graphs within graphs without end")
    if kind == "tensor":
        yield from _location(message)
        return
    inner = _FIELDS[kind]
    for field, value in _fields(message):
        if field in inner and isinstance(value, memoryview):
            yield from _external(value, inner[field], depth + 1)


def _location(tensor: memoryview) -> Iterator[str]:
    entries: dict[str, str] = {}
    is_external = False
    for field, value in _fields(tensor):
        if field == _EXTERNAL_DATA and isinstance(value, memoryview):
            texts = {key: bytes(text).decode() for key, text in _fields(value) if isinstance(text, memoryview)}
            entries[texts.get(_KEY, "")] = texts.get(_VALUE, "")
        elif field == _DATA_LOCATION:
            is_external = value == _IS_EXTERNAL
    if is_external:
        yield entries.get("location", "")


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and value of each field: a number, or the bytes of a text, a message or an array."""
    place = 0
    while place < len(message):
        tag, place = _number(message, place)
        kind = tag & 7
        if kind == _VARINT:
            value, place = _number(message, place)
            yield tag >> 3, value
            continue
        if kind == _COUNTED:
            length, place = _number(message, place)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            length = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if place + length > len(message):
            raise ValueError("it ends within a field")
        yield tag >> 3, message[place : place + length]
        place += length


def _number(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
        if shift > 63:
            raise ValueError("a number without end")
