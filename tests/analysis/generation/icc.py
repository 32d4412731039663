"""Small colour profiles, written by hand: version 2 of the ICC's format, a matrix and a gamma, or a grey gamma."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from itertools import product

#: Columns of the matrix to XYZ (white D50) of red, green and blue.
SRGB = ((0.4361, 0.2225, 0.0139), (0.3851, 0.7169, 0.0971), (0.1431, 0.0606, 0.7141))
ADOBE_RGB = ((0.6097, 0.3111, 0.0195), (0.2053, 0.6257, 0.0609), (0.1492, 0.0632, 0.7446))
DISPLAY_P3 = ((0.5151, 0.2412, -0.0011), (0.2920, 0.6922, 0.0419), (0.1571, 0.0666, 0.7841))


def rgb_profile(columns: Sequence[Sequence[float]], gamma: float = 2.2) -> bytes:
    tags = {f"{name}XYZ": _xyz(column) for name, column in zip("rgb", columns, strict=True)}
    return _profile("RGB ", {**tags, **{f"{name}TRC": _gamma(gamma) for name in "rgb"}})


def grey_profile(gamma: float) -> bytes:
    return _profile("GRAY", {"kTRC": _gamma(gamma)})


def ink_profile() -> bytes:
    """CMYK of inks that are all grey: lightness falls to 0 with black, and to 0 with the three others together."""
    corners = [(1 - sum(inks[:3]) / 3) * (1 - inks[3]) for inks in product((0, 1), repeat=4)]
    table = b"".join(bytes((round(255 * lightness), 128, 128)) for lightness in corners)
    unchanged = b"".join(map(_fixed, (1, 0, 0, 0, 1, 0, 0, 0, 1)))
    lut = b"mft1" + bytes(4) + bytes((4, 3, 2, 0)) + unchanged + bytes(range(256)) * 4 + table + bytes(range(256)) * 3
    return _profile("CMYK", {"A2B0": lut, "A2B1": lut}, kind=b"prtr", connection=b"Lab ")


def _profile(space: str, tags: Mapping[str, bytes], *, kind: bytes = b"mntr", connection: bytes = b"XYZ ") -> bytes:
    tags = {"desc": b"desc" + bytes(4) + struct.pack(">I", 5) + b"test\0" + bytes(79), "wtpt": _xyz(_WHITE), **tags}
    place = 128 + 4 + 12 * len(tags)
    table, body = struct.pack(">I", len(tags)), b""
    for name, content in tags.items():
        content += bytes(-len(content) % 4)
        table += name.encode() + struct.pack(">II", place + len(body), len(content))
        body += content
    head = struct.pack(">I4sI4s4s", place + len(body), bytes(4), 0x02100000, kind, space.encode())
    head += connection + struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + bytes(28) + b"".join(map(_fixed, _WHITE))
    return head + bytes(128 - len(head)) + table + body


_WHITE = (0.9642, 1.0, 0.8249)


def _xyz(values: Sequence[float]) -> bytes:
    return b"XYZ " + bytes(4) + b"".join(map(_fixed, values))


def _gamma(gamma: float) -> bytes:
    return b"curv" + bytes(4) + struct.pack(">IH", 1, round(gamma * 256))


def _fixed(value: float) -> bytes:
    return struct.pack(">i", round(value * 65536))
