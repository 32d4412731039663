"""The bytes of a picture as a participant gets them: nothing but what is needed to draw it."""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache
from io import BytesIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.masks import noise_mask
from analysis.study.protocol import ProtocolConfig
from humanexp.core.errors import FileRefused, PictureDamaged
from humanexp.core.storage import read_checked

#: Noise fields in stock; with their shifts they make 3 million different masks of 224 px.
MASK_FIELDS = 64
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: Header, palette, transparency, pixels, end. Text, times and profiles could tell where a picture is from.
_KEPT = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})


class Picture(NamedTuple):
    """A stimulus that is to be shown: its row, its file, and what the file held when it was made."""

    pk: int
    file: str
    sha256: str


def stimulus_png(picture: Picture) -> bytes:
    """A stored stimulus without metadata; the very bytes of the file when it has none.

    Raises PictureDamaged where the file is missing, or not the one that was made: an answer to it would be stored for
    another picture.
    """
    content = checked(picture)
    return without_metadata(content) if content.startswith(_SIGNATURE) else _as_png(content)


def checked(picture: Picture) -> bytes:
    """The bytes of the file, if they are those of the record."""
    try:
        content = read_checked(picture.file, picture.sha256)
    except OSError as error:
        raise PictureDamaged(is_missing=True) from error
    except FileRefused as error:
        raise PictureDamaged(is_missing=error.is_missing) from error
    if content is None:
        raise PictureDamaged
    return content


def mask_png(*, seed: int, protocol: ProtocolConfig) -> bytes:
    """The noise mask of a trial: one of a stock of noise fields, shifted around by an offset of the trial's own.

    The fields are periodic: a shifted one is noise of the same spectrum, without a seam, for a tenth of the cost.
    """
    number, place = seed % MASK_FIELDS, seed // MASK_FIELDS
    field = _mask_field(number, protocol.size_px, protocol.mask_contrast)
    down, right = divmod(place % field.size, protocol.size_px)
    return _grey_png(np.roll(field, (down, right), axis=(0, 1)))


def _grey_png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG without compression, which noise does not yield to: a fifth of the time of a library's."""
    height, width = pixels.shape
    lines = np.zeros((height, width + 1), dtype=np.uint8)  # each line begins with its filter: none
    lines[:, 1:] = pixels
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    drawn = (_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(lines.tobytes(), 0)), _chunk(b"IEND", b""))
    return b"".join((_SIGNATURE, *drawn))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(content, zlib.crc32(kind)))


@lru_cache(maxsize=4 * MASK_FIELDS)
def _mask_field(number: int, size_px: int, contrast: float) -> NDArray[np.uint8]:
    return noise_mask(number, size_px, contrast)


def without_metadata(png: bytes) -> bytes:
    """The PNG with its drawing chunks only."""
    parts, place, end = [_SIGNATURE], len(_SIGNATURE), len(png)
    while place + 12 <= end:
        length = int.from_bytes(png[place : place + 4], "big")
        kind = png[place + 4 : place + 8]
        if kind in _KEPT:
            parts.append(png[place : place + 12 + length])
        place += 12 + length
        if kind == b"IEND":
            break
    return b"".join(parts)


def _as_png(content: bytes) -> bytes:
    from PIL import Image

    stream = BytesIO()
    with Image.open(BytesIO(content)) as picture:
        picture.convert("RGB").save(stream, format="PNG")
    return stream.getvalue()
