"""Pairs of pictures made by whole-number arithmetic alone, so that every machine makes the same bytes.

`vif_reference.json` holds the values that the public implementation (github.com/abhinaukumar/vif at ee69335, with
pyrtools 1.1.1, float64) gives for these pairs, and the digest of each picture.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]


def _box(field: NDArray[np.int64], radius: int) -> NDArray[np.int64]:
    padded = np.pad(field, radius, mode="reflect")
    total = np.zeros_like(field)
    for row in range(2 * radius + 1):
        for column in range(2 * radius + 1):
            total += padded[row : row + field.shape[0], column : column + field.shape[1]]
    return total // (2 * radius + 1) ** 2


def _bytes(field: NDArray[np.int64]) -> Grey:
    return np.clip(field, 0, 255).astype(np.uint8)


def scene(seed: int, height: int, width: int) -> Grey:
    """Patches of five sizes, rectangles and a ramp: a picture with edges and power at every scale."""
    rng = np.random.default_rng(seed)
    field = np.zeros((height, width), dtype=np.int64)
    for cell in (64, 32, 16, 8, 4):
        shape = (height // cell + 1, width // cell + 1)
        patches = rng.integers(-cell, cell + 1, shape)
        field += np.kron(patches, np.ones((cell, cell), dtype=np.int64))[:height, :width]
    field = _box(field, 1)
    for _ in range(12):
        top, left = int(rng.integers(0, height - 8)), int(rng.integers(0, width - 8))
        field[top : top + int(rng.integers(8, 60)), left : left + int(rng.integers(8, 60))] += int(
            rng.integers(-60, 61)
        )
    field += (np.arange(width) * 40 // width)[None, :]
    return _bytes(field + 110 + rng.integers(-3, 4, field.shape))


def _noise(picture: Grey, width: int) -> Grey:
    rng = np.random.default_rng(width)
    return _bytes(picture + rng.integers(-width, width + 1, picture.shape))


def _mean(picture: Grey, radius: int) -> Grey:
    return _bytes(_box(picture.astype(np.int64), radius))


def _contrast(picture: Grey, percent: int) -> Grey:
    return _bytes((picture.astype(np.int64) - 128) * percent // 100 + 128)


def _shift(picture: Grey) -> Grey:
    return np.roll(picture, 1, axis=1)


def _half_flat(picture: Grey) -> Grey:
    flat = picture.copy()
    flat[:, : picture.shape[1] // 2] = 90
    return flat


PAIRS: dict[str, tuple[Callable[[], Grey], Callable[[Grey], Grey]]] = {
    "identical": (lambda: scene(1, 224, 224), lambda p: p.copy()),
    "noise 2": (lambda: scene(2, 224, 224), lambda p: _noise(p, 2)),
    "noise 20": (lambda: scene(2, 224, 224), lambda p: _noise(p, 20)),
    "noise 90": (lambda: scene(3, 224, 224), lambda p: _noise(p, 90)),
    "noise 400": (lambda: scene(3, 224, 224), lambda p: _noise(p, 400)),
    "mean 3": (lambda: scene(4, 224, 224), lambda p: _mean(p, 1)),
    "mean 9": (lambda: scene(5, 224, 224), lambda p: _mean(p, 4)),
    "mean 31": (lambda: scene(5, 224, 224), lambda p: _mean(p, 15)),
    "contrast up": (lambda: scene(6, 224, 224), lambda p: _contrast(p, 130)),
    "contrast down": (lambda: scene(6, 224, 224), lambda p: _contrast(p, 35)),
    "negative": (lambda: scene(7, 224, 224), lambda p: 255 - p),
    "shifted": (lambda: scene(7, 224, 224), _shift),
    "black": (lambda: scene(8, 224, 224), np.zeros_like),
    "another scene": (lambda: scene(8, 224, 224), lambda p: scene(9, *p.shape)),
    "half flat": (lambda: scene(10, 224, 224), _half_flat),
    "flat half in the reference": (lambda: _half_flat(scene(10, 224, 224)), lambda p: _noise(p, 12)),
    "smallest": (lambda: scene(11, 96, 96), lambda p: _noise(p, 15)),
    "odd sides": (lambda: scene(12, 97, 131), lambda p: _mean(p, 2)),
    "tall": (lambda: scene(13, 301, 120), lambda p: _noise(p, 35)),
    "256": (lambda: scene(14, 256, 256), lambda p: _contrast(_mean(p, 1), 70)),
}


def make_pair(name: str) -> tuple[Grey, Grey]:
    """Reference and other picture."""
    reference, distortion = PAIRS[name]
    picture = reference()
    return picture, distortion(picture)


def digest(picture: Grey) -> str:
    """Digest of the pixels."""
    return hashlib.sha256(np.ascontiguousarray(picture).tobytes()).hexdigest()[:16]
