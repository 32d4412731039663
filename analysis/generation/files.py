"""Files written whole or not at all, PNG without metadata, and a sentence for every way in which storage fails."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from isal import isal_zlib

from analysis import opencv as cv2
from analysis.corruptions.registry import Picture
from analysis.errors import PictureRefused, StorageFailed

#: Folder for files on their way, on the same file system as their places; what is found in it later is left from a
#: process that was killed.
UNFINISHED = ".unfinished"

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_UNWRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST, errno.EISDIR})


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def is_intact(path: Path, sha256: str | None) -> bool:
    """Whether a file is there with the bytes that its digest tells."""
    if sha256 is None:
        return False
    try:
        return digest(path.read_bytes()) == sha256
    except (FileNotFoundError, NotADirectoryError):
        return False


def write_atomically(path: Path, content: bytes, *, beside: Path) -> None:
    """Write into the folder ``beside``, then rename: a reader, or a killed process, leaves the whole file or none.

    Nothing is forced onto the disk file by file: that costs five times as much as writing. After a loss of power a
    file may be empty although it was renamed; whoever goes on compares digests, and one `os.sync` before a set is
    called complete settles all of them.

    Raises
    ------
    StorageFailed
        With a sentence that says what to do.
    """
    temporary = beside / f"{path.name}.{secrets.token_hex(6)}"
    with told_as_sentence(path):
        try:
            try:
                _write_and_rename(temporary, content, path)
            except FileNotFoundError:
                beside.mkdir(parents=True, exist_ok=True)
                path.parent.mkdir(parents=True, exist_ok=True)
                _write_and_rename(temporary, content, path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            raise


def _write_and_rename(temporary: Path, content: bytes, path: Path) -> None:
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o644)
    with open(descriptor, "wb", buffering=0) as file:
        # A file near the end of the space may take a part and say so only by its count.
        written = 0
        while written < len(content):
            written += file.write(content[written:] if written else content)
    os.replace(temporary, path)


@contextmanager
def told_as_sentence(path: Path) -> Iterator[None]:
    """An `OSError` while a file is written becomes `StorageFailed`, which says what happened where, and what to do."""
    try:
        yield
    except OSError as error:
        raise StorageFailed(storage_sentence(path, error)) from error


def storage_sentence(path: Path, error: OSError) -> str:
    """What failed where, and what to do."""
    reason = error.strerror or type(error).__name__
    if error.errno in _FULL:
        return (
            f"{path} could not be written: the disk is full ({reason}). Free some space, then start again: what is "
            "there stays, and the work goes on where it stopped."
        )
    if error.errno in _UNWRITABLE:
        return (
            f"{path} could not be written ({reason}). Make the folder writable for this program, then start again: the "
            "work goes on where it stopped."
        )
    return (
        f"{path} could not be written ({reason}). Check the storage, then start again: the work goes on where it "
        "stopped."
    )


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_SUBTRACT_LEFT = 1
#: One file of so many is read back as a whole.
_READ_BACK = 16


def encode_png(picture: Picture) -> bytes:
    """PNG file of a picture: three chunks, no metadata.

    Parameters
    ----------
    picture : ndarray of uint8, shape (h, w, 3)
        RGB.

    Raises
    ------
    PictureRefused
        If the file does not decode to the same pixels.

    Notes
    -----
    Every row is the difference from the pixel to the left, deflated by ISA-L at its fastest level. What was deflated is
    inflated again and compared; one file in 16, by its last byte, is read by OpenCV, which did not write it.
    """
    height, width, channels = picture.shape
    flat = picture.reshape(height, width * channels)
    rows = np.empty((height, 1 + width * channels), dtype=np.uint8)
    rows[:, 0] = _SUBTRACT_LEFT
    rows[:, 1 : 1 + channels] = flat[:, :channels]
    np.subtract(flat[:, channels:], flat[:, :-channels], out=rows[:, 1 + channels :])
    deflated = isal_zlib.compress(rows.data, 1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    png = b"".join(
        (
            _SIGNATURE,
            *_chunk(b"IHDR", header),
            *_chunk(b"IDAT", deflated),
            *_chunk(b"IEND", b""),
        )
    )
    is_kept = np.array_equal(np.frombuffer(isal_zlib.decompress(deflated), np.uint8), rows.ravel())
    if not is_kept or (deflated[-1] % _READ_BACK == 0 and not np.array_equal(decode_png(png), picture)):
        raise PictureRefused("The picture does not survive being written as PNG.")
    return png


def decode_png(png: bytes) -> Picture:
    """Picture in a PNG file, shape (h, w, 3), read by a library that did not write it.

    Raises
    ------
    PictureRefused
        If the bytes are no picture.
    """
    pixels: Any = cv2.imdecode(np.frombuffer(png, dtype=np.uint8), cv2.IMREAD_COLOR_RGB) if png else None
    if pixels is None:
        raise PictureRefused("The bytes are no picture.")
    return np.asarray(pixels, dtype=np.uint8)


def _chunk(kind: bytes, content: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    check = isal_zlib.crc32(content, isal_zlib.crc32(kind))
    return struct.pack(">I", len(content)), kind, content, struct.pack(">I", check)
