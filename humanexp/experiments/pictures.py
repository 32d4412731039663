"""The bytes of a picture as a participant gets them: nothing but what is needed to draw it."""

from __future__ import annotations

from io import BytesIO

from analysis.masks import noise_mask
from analysis.protocols import ProtocolConfig
from humanexp.core.storage import media_path

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: Header, palette, transparency, pixels, end. Text, times and profiles could tell where a picture is from.
_KEPT = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})


def stimulus_png(file: str) -> bytes:
    """A stored stimulus without metadata; the very bytes of the file when it has none."""
    content = media_path(file).read_bytes()
    return without_metadata(content) if content.startswith(_SIGNATURE) else _as_png(content)


def mask_png(*, seed: int, protocol: ProtocolConfig) -> bytes:
    """The noise mask of a trial."""
    from PIL import Image

    stream = BytesIO()
    pixels = noise_mask(seed, protocol.size_px, protocol.mask_contrast)
    Image.fromarray(pixels).save(stream, format="PNG", compress_level=1)
    return stream.getvalue()


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
