"""Damaged and hostile picture files, made from a seed."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from PIL import Image, PngImagePlugin

from tests.analysis.generation.originals import coloured

Maker = Callable[[np.random.Generator], bytes]


def _scene(rng: np.random.Generator) -> Image.Image:
    height, width = (int(side) for side in rng.integers(96, 160, 2))
    return Image.fromarray(coloured(int(rng.integers(1000)), height, width))


def _saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def _any(rng: np.random.Generator) -> bytes:
    kind = str(rng.choice(["JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF"]))
    options = {"JPEG": {"progressive": bool(rng.integers(2))}, "TIFF": {"compression": "tiff_lzw"}}
    return _saved(_scene(rng), kind, **options.get(kind, {}))


def bits_flipped(rng: np.random.Generator) -> bytes:
    content = bytearray(_any(rng))
    for place in rng.integers(0, len(content), int(rng.integers(1, 60))):
        content[place] ^= 1 << int(rng.integers(8))
    return bytes(content)


def header_flipped(rng: np.random.Generator) -> bytes:
    content = bytearray(_any(rng))
    for place in rng.integers(0, min(64, len(content)), 4):
        content[place] = int(rng.integers(256))
    return bytes(content)


def truncated(rng: np.random.Generator) -> bytes:
    content = _any(rng)
    return content[: int(rng.integers(0, len(content)))]


def spliced(rng: np.random.Generator) -> bytes:
    first, second = _any(rng), _any(rng)
    return first[: int(rng.integers(len(first)))] + second[int(rng.integers(len(second))) :]


def random_bytes(rng: np.random.Generator) -> bytes:
    starts = [b"", b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM", b"II*\0", b"RIFF\xff\xff\0\0WEBPVP8 "]
    return starts[int(rng.integers(len(starts)))] + rng.bytes(int(rng.integers(0, 4000)))


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _png(width: int, height: int, *chunks: bytes, depth: int = 8, colour: int = 2) -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + chunk(b"IEND", b"")


def declares_a_huge_size(rng: np.random.Generator) -> bytes:
    width, height = (int(side) for side in rng.choice([1, 9000, 65535, 2**31 - 1], 2))
    nothing = zlib.compress(bytes(100_000))
    webp = (
        b"VP8X" + struct.pack("<I", 10) + b"\x02\0\0\0" + b"\xff\x3f\0" * 2 + b"ANIM" + struct.pack("<I", 6) + bytes(6)
    )
    bmp_header = struct.pack("<IiiHHIIiiII", 40, min(width, 60_000), min(height, 60_000), 1, 24, 0, 0, 0, 0, 0, 0)
    return [
        _png(width, height, chunk(b"IDAT", nothing)),
        b"GIF89a"
        + struct.pack("<HH", 65535, 65535)
        + b"\xf7\0\0"
        + bytes(768)
        + b",\0\0\0\0\xff\xff\xff\xff\0\x08\xff",
        b"RIFF" + struct.pack("<I", len(webp) + 4) + b"WEBP" + webp,
        b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + bmp_header,
        b"\xff\xd8\xff\xc0\0\x11\x08" + struct.pack(">HH", 65500, 65500) + b"\x03\x01\x11\0\x02\x11\x01\x03\x11\x01",
    ][int(rng.integers(5))]


@cache
def _packed_zeros(count: int) -> bytes:
    return zlib.compress(bytes(count), 1)


def deep_chunks(rng: np.random.Generator) -> bytes:
    """Compressed text that grows a thousandfold, profiles that do, chunks without end."""
    bomb = _packed_zeros(20_000_000)
    pixels = zlib.compress(b"".join(b"\0" + rng.bytes(300) for _ in range(100)))
    return [
        _png(100, 100, chunk(b"zTXt", b"Comment\0\0" + bomb), chunk(b"IDAT", pixels)),
        _png(100, 100, chunk(b"iCCP", b"profile\0\0" + bomb), chunk(b"IDAT", pixels)),
        _png(100, 100, *[chunk(b"tEXt", b"k\0" + bytes(10))] * 5000, chunk(b"IDAT", pixels)),
        _png(100, 100, chunk(b"IDAT", _packed_zeros(50_000_000))),
        _png(100, 100, *[chunk(b"IDAT", b"")] * 3000),
        _png(100, 100, chunk(b"eXIf", rng.bytes(3000)), chunk(b"IDAT", pixels)),
    ][int(rng.integers(6))]


def exif_bomb(rng: np.random.Generator) -> bytes:
    """Directories that point at themselves, and counts beyond the file."""
    entries = struct.pack("<HHHII", 1, 0x0112, int(rng.integers(14)), 2**31, 8)
    tiff = b"II*\0" + struct.pack("<I", 8) + entries + struct.pack("<I", 8)
    body = b"Exif\0\0" + tiff + rng.bytes(int(rng.integers(100)))
    jpeg = _saved(_scene(rng), "JPEG")
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


def looping_tiff(rng: np.random.Generator) -> bytes:
    content = bytearray(_saved(_scene(rng), "TIFF"))
    start = struct.unpack("<I", content[4:8])[0]
    count = struct.unpack("<H", content[start : start + 2])[0]
    after = start + 2 + 12 * count
    content[after : after + 4] = struct.pack("<I", int(rng.choice([start, 8, len(content) + 9, 2**31])))
    return bytes(content)


def polyglot(rng: np.random.Generator) -> bytes:
    """A picture and something else at once: in truth a picture."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("cat/x.jpg", b"x")
    tail = [packed.getvalue(), b"<script>alert(1)</script>", b"%PDF-1.4\n", b"#!/bin/sh\nexit\n"][int(rng.integers(4))]
    return _any(rng) + tail


def no_picture(rng: np.random.Generator) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inner.zip", packed.getvalue())
    return [
        b"",
        b"\0" * int(rng.integers(1, 3000)),
        b"just words, " * int(rng.integers(1, 100)),
        packed.getvalue(),
        b"<svg xmlns='http://www.w3.org/2000/svg' width='200' height='200'/>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 200 200\n",
        b"%PDF-1.4\n",
        b"P6\n200 200\n255\n" + bytes(120_000),
        b"\x89HDF\r\n\x1a\n",
        b"{}",
    ][int(rng.integers(10))]


def odd_but_true(rng: np.random.Generator) -> bytes:
    """Pictures of unusual kinds; some are usable."""
    scene = _scene(rng)
    info = PngImagePlugin.PngInfo()
    info.add_text("k" * 70, "v" * 1000, zip=True)
    exif = Image.Exif()
    exif[0x0112] = int(rng.integers(0, 12))
    deep = Image.fromarray(np.asarray(scene)[..., 0].astype(np.uint16) * 257)
    return [
        lambda: _saved(scene.quantize(int(rng.integers(2, 256))), "PNG"),
        lambda: _saved(scene.convert("1"), "PNG"),
        lambda: _saved(scene.convert("LA"), "PNG"),
        lambda: _saved(scene.convert("CMYK"), "JPEG"),
        lambda: _saved(scene.convert("CMYK"), "TIFF"),
        lambda: _saved(deep, "PNG"),
        lambda: _saved(deep, "TIFF"),
        lambda: _saved(scene.convert("F"), "TIFF"),
        lambda: _saved(scene.convert("LAB"), "TIFF"),
        lambda: _saved(scene, "PNG", pnginfo=info),
        lambda: _saved(scene, "JPEG", exif=exif),
        lambda: _saved(scene, "GIF", save_all=True, append_images=[_scene(rng).resize(scene.size)]),
        lambda: _saved(scene, "PNG", save_all=True, append_images=[_scene(rng).resize(scene.size)]),
        lambda: _saved(scene, "WEBP", save_all=True, append_images=[_scene(rng).resize(scene.size)]),
        lambda: _saved(scene.convert("RGBA"), "PNG"),
        lambda: _saved(Image.new("RGBA", (150, 150), (9, 9, 9, 0)), "WEBP"),
        lambda: _saved(Image.new("RGB", (200, 200), (4, 5, 6)), "PNG"),
        lambda: _saved(scene.resize((int(rng.integers(1, 96)), 200)), "PNG"),
        lambda: _saved(scene.resize((4000, 96)), "JPEG"),
        lambda: _saved(scene, "PPM"),
    ][int(rng.integers(20))]()


MAKERS: tuple[Maker, ...] = (
    bits_flipped,
    bits_flipped,
    header_flipped,
    header_flipped,
    truncated,
    spliced,
    random_bytes,
    declares_a_huge_size,
    deep_chunks,
    exif_bomb,
    looping_tiff,
    polyglot,
    no_picture,
    odd_but_true,
)


def files(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Name and content of `count` files; names lie about kinds."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        maker = MAKERS[number % len(MAKERS)]
        suffix = str(rng.choice([".jpg", ".png", ".gif", ".tiff", ".webp", ".bmp", ".JPEG", ""]))
        yield f"{maker.__name__}-{number}{suffix}", maker(rng)
