"""Pictures that come as arrays: batches of CIFAR-10, IDX files of MNIST, `.npz` files, read as a tree of PNG files."""

from __future__ import annotations

import gzip
import io
import pickle
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from humanexp.core.errors import InputRefused
from humanexp.stimuli.sources import PictureSource, readable

#: All arrays of a source are held in memory: CIFAR-10 has 180 MB, a million pictures of 32 px have 3 GB.
MAXIMUM_ARRAY_BYTES = 4 * 10**9
_IDX = re.compile(r"(.*)-(images|labels)[-.]idx([13])-ubyte(\.gz)?")
_BATCH = re.compile(r"data_batch_\d+|test_batch")
_NAMES = "batches.meta"
#: Arrays of pictures and of labels in a `.npz` file, by their names without the part (`x_train`, `test_labels`).
_PICTURES, _LABELS = ("x", "images", "data", "arr_0"), ("y", "labels", "arr_1")


@dataclass(frozen=True)
class _Part:
    """Pictures of one array and what they are."""

    #: of its files, in messages and in the names of pictures
    name: str
    #: shape (n, height, width) or (n, height, width, 3)
    pictures: NDArray[np.uint8]
    #: by number, or by name where the files tell the names
    labels: Sequence[str]


class ArrayPictures(PictureSource):
    """Pictures of arrays, one folder a label: ``3/test-00012.png``, or ``cat/test-00012.png`` where names are told."""

    def __init__(self, source: PictureSource, parts: Sequence[_Part]) -> None:
        super().__init__()
        self.title = source.title
        self._source = source
        self._places = {
            f"{label}/{part.name}-{number:05d}.png": (part, number)
            for part in parts
            for number, label in enumerate(part.labels)
        }

    def names(self) -> list[str]:
        return sorted(self._places)

    def names_in(self, folder: str) -> list[str]:
        return [name.rpartition("/")[2] for name in self._places if name.rpartition("/")[0] == folder]

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        if name not in self._places:
            raise InputRefused(f"{name}: there is no such picture in {self.title}.")
        part, number = self._places[name]
        file = io.BytesIO()
        Image.fromarray(part.pictures[number]).save(file, "PNG")
        file.seek(0)
        yield file

    def close(self) -> None:
        self._source.close()


def arrays_with(name: str) -> Callable[[str], bool] | None:
    """Which files belong to a file of arrays, itself among them; None where it is no file of arrays."""
    idx = _IDX.fullmatch(name)
    if idx:
        return lambda other: (found := _IDX.fullmatch(other)) is not None and found[1] == idx[1]
    if _BATCH.fullmatch(name):
        return lambda other: other in (name, _NAMES)
    if name.lower().endswith(".npz"):
        return lambda other: other == name
    return None


def with_arrays(source: PictureSource) -> PictureSource:
    """The source itself, or its pictures where it holds arrays of pictures and their labels.

    Raises
    ------
    InputRefused
        Where pictures lack their labels, or arrays are of another kind than what is read here.
    """
    names = source.names()
    idx = {name: found for name in names if (found := _IDX.fullmatch(PurePosixPath(name).name))}
    batches = [name for name in names if _BATCH.fullmatch(PurePosixPath(name).name)]
    archives = [name for name in names if name.lower().endswith(".npz")]
    if idx:
        parts = _idx_parts(source, idx)
    elif batches:
        parts = _batch_parts(source, batches, names)
    elif archives:
        parts = [part for name in archives for part in _npz_parts(source, name)]
    else:
        return source
    return ArrayPictures(source, [_checked(part, source) for part in parts])


def _checked(part: _Part, source: PictureSource) -> _Part:
    if len(part.pictures) != len(part.labels):
        raise InputRefused(
            f"{source.title}, {part.name}: {len(part.pictures):,} pictures and {len(part.labels):,} labels. They "
            "belong to different files: take both from the same release."
        )
    return part


# --- IDX, as MNIST is handed out


def _idx_parts(source: PictureSource, found: dict[str, re.Match[str]]) -> list[_Part]:
    by_part: dict[str, dict[str, str]] = {}
    for name, match in found.items():
        by_part.setdefault(PurePosixPath(match[1]).name, {}).setdefault(match[2], name)
    parts = []
    for part, files in sorted(by_part.items()):
        lacking = next((kind for kind in ("images", "labels") if kind not in files), None)
        if lacking:
            other = next(iter(files.values()))
            raise InputRefused(
                f"{other}: the {lacking} that belong to it are not there. Put {part}-{lacking}-idx"
                f"{3 if lacking == 'images' else 1}-ubyte into the same place."
            )
        pictures, numbers = (_idx(source, files[kind], axes) for kind, axes in (("images", 3), ("labels", 1)))
        parts.append(_Part(part, pictures, [str(number) for number in numbers.tolist()]))
    return parts


def _idx(source: PictureSource, name: str, axes: int) -> NDArray[np.uint8]:
    """One IDX file of bytes: two zeros, the kind 8, the number of axes, their lengths, the bytes."""
    content = _bytes(source, name)
    if name.endswith(".gz"):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
                content = stream.read(MAXIMUM_ARRAY_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise InputRefused(f"{name}: cannot be unpacked ({error}). Take it from its source again.") from error
    head = 4 + 4 * axes
    if len(content) < head or content[:4] != bytes((0, 0, 8, axes)):
        raise InputRefused(f"{name}: this is no IDX file of bytes with {axes} axes. Take it from its source again.")
    shape = struct.unpack(f">{axes}I", content[4:head])
    if len(content) - head != int(np.prod(shape, dtype=np.int64)):
        raise InputRefused(
            f"{name}: it announces {' x '.join(map(str, shape))} bytes and holds {len(content) - head:,}. It was cut "
            "short on its way: take it from its source again."
        )
    return np.frombuffer(content, dtype=np.uint8, offset=head).reshape(shape)


# --- batches of CIFAR-10 for Python


class _PlainPickle(pickle.Unpickler):
    """Reads lists, texts and arrays of bytes alone: a pickle may hold orders to do anything."""

    _ALLOWED = frozenset(
        {
            ("numpy.core.multiarray", "_reconstruct"),
            ("numpy._core.multiarray", "_reconstruct"),
            ("numpy", "ndarray"),
            ("numpy", "dtype"),
            ("_codecs", "encode"),
        }
    )

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no batch of pictures needs")
        return super().find_class(module, name)


def _batch_parts(source: PictureSource, batches: list[str], names: list[str]) -> list[_Part]:
    beside = [name for name in names if PurePosixPath(name).name == _NAMES]
    label_names = _text_list(_unpickled(source, beside[0]).get("label_names", [])) if beside else []
    parts = []
    for name in batches:
        told = _unpickled(source, name)
        pictures, numbers = told.get("data"), told.get("labels")
        if not isinstance(pictures, np.ndarray) or not isinstance(numbers, list):
            raise InputRefused(f"{name}: it has no `data` and `labels`, as batches of CIFAR-10 for Python do.")
        wrong = next((one for one in numbers if not isinstance(one, int) or one < 0), None)
        if wrong is not None or (label_names and max(numbers, default=0) >= len(label_names)):
            raise InputRefused(f"{name}: the label {wrong if wrong is not None else max(numbers)!r} has no name.")
        labels = [label_names[number] if label_names else str(number) for number in numbers]
        parts.append(_Part(PurePosixPath(name).name, _as_pictures(pictures, name), labels))
    return parts


def _unpickled(source: PictureSource, name: str) -> dict[str, Any]:
    try:
        told = _PlainPickle(io.BytesIO(_bytes(source, name)), encoding="bytes").load()
    except Exception as error:  # of a file from anywhere: whatever pickle and NumPy meet in it
        raise InputRefused(f"{name}: this is no batch of CIFAR-10 for Python ({error}).") from error
    if not isinstance(told, dict):
        raise InputRefused(f"{name}: this is no batch of CIFAR-10 for Python, but a {type(told).__name__}.")
    return {key.decode() if isinstance(key, bytes) else str(key): value for key, value in told.items()}


def _text_list(values: Any) -> list[str]:
    return [readable(one.decode() if isinstance(one, bytes) else str(one)).replace("/", "-") for one in values]


# --- arrays of NumPy


def _npz_parts(source: PictureSource, name: str) -> list[_Part]:
    try:
        content = io.BytesIO(_bytes(source, name))
        with zipfile.ZipFile(content) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > MAXIMUM_ARRAY_BYTES:
            raise InputRefused(
                f"{name}: {size / 10**9:.0f} GB unpacked; {MAXIMUM_ARRAY_BYTES // 10**9} GB are the most."
            )
        content.seek(0)
        with np.load(content, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise InputRefused(f"{name}: this is no `.npz` file of arrays that can be read ({error}).") from error
    pairs = _pairs(arrays)
    if not pairs:
        raise InputRefused(
            f"{name}: it holds {', '.join(map(readable, arrays)) or 'nothing'}. Pictures are read from an array x, "
            "images or data, and their labels from y or labels, perhaps with a part: x_train and y_train."
        )
    stem = PurePosixPath(name).stem
    parts = []
    for part, (pictures, labels) in sorted(pairs.items()):
        numbers = arrays[labels].reshape(-1) if arrays[labels].ndim == 2 else arrays[labels]
        if numbers.ndim != 1 or numbers.dtype.kind not in "iuU":
            raise InputRefused(f"{name}, {labels}: labels are a list of numbers or names, one a picture.")
        called = f"{stem}-{part}" if part else stem
        parts.append(_Part(called, _as_pictures(arrays[pictures], name), _text_list(numbers.tolist())))
    return parts


def _pairs(arrays: dict[str, NDArray[Any]]) -> dict[str, tuple[str, str]]:
    """Names of the pictures and of the labels, by part; empty for the only one."""
    found: dict[str, dict[str, str]] = {}
    for name in arrays:
        words = name.lower().split("_") if not name.startswith("arr_") else [name]
        for kind, known in (("pictures", _PICTURES), ("labels", _LABELS)):
            of_kind = [word for word in words if word in known]
            if len(of_kind) == 1 and len(words) <= 2:
                part = "".join(word for word in words if word not in known)
                found.setdefault(part, {})[kind] = name
    return {part: (both["pictures"], both["labels"]) for part, both in found.items() if len(both) == 2}


def _as_pictures(array: NDArray[Any], name: str) -> NDArray[np.uint8]:
    """Pictures as rows, columns and colours; CIFAR-10 has its colours first, flat or not."""
    if array.dtype != np.uint8:
        raise InputRefused(
            f"{name}: the pictures are {array.dtype}; they must be whole numbers from 0 to 255 (uint8), as they were "
            "before any scaling."
        )
    if array.ndim == 2 and array.shape[1] == 3 * 32 * 32:
        array = array.reshape(-1, 3, 32, 32)
    if array.ndim == 4 and array.shape[1] == 3 and array.shape[3] != 3:
        array = array.transpose(0, 2, 3, 1)
    if array.ndim == 4 and array.shape[3] == 1:
        array = array[..., 0]
    if array.ndim != 3 and not (array.ndim == 4 and array.shape[3] == 3):
        raise InputRefused(
            f"{name}: an array of {' x '.join(map(str, array.shape))} is no row of pictures; write number x height x "
            "width, with 1 or 3 colours last."
        )
    return np.ascontiguousarray(array)


def _bytes(source: PictureSource, name: str) -> bytes:
    with source.open(name) as stream:
        content = stream.read(MAXIMUM_ARRAY_BYTES + 1)
    if len(content) > MAXIMUM_ARRAY_BYTES:
        raise InputRefused(f"{name}: over {MAXIMUM_ARRAY_BYTES // 10**9} GB; hand it over in parts.")
    return content
