"""Textures of ice on a window pane, drawn as crystals grow: stems, branches, branches of branches."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

TEXTURES = 8
SIDE_PX = 640

Texture = NDArray[np.uint8]


@lru_cache(maxsize=TEXTURES)
def ice_texture(number: int) -> Texture:
    """Texture of ice, shape (SIDE_PX, SIDE_PX, 3), RGB."""
    rng = np.random.default_rng([number, 20_190_112])
    canvas = np.zeros((SIDE_PX, SIDE_PX), dtype=np.uint8)
    for _ in range(60):
        root = rng.uniform(0, SIDE_PX, 2)
        _grow(canvas, rng, root, rng.uniform(0, 2 * np.pi), rng.uniform(60, 200), 2)
    tone = canvas.astype(np.float32)
    tone = 0.7 * tone + 60.0
    texture = np.stack([tone * 0.93, tone * 0.97, tone], axis=2)
    texture = np.rint(np.clip(texture, 0, 255)).astype(np.uint8)
    texture.flags.writeable = False
    return texture


def _grow(
    canvas: NDArray[np.uint8],
    rng: np.random.Generator,
    root: NDArray[np.float64],
    angle: float,
    length: float,
    order: int,
) -> None:
    tip = root + length * np.array([np.cos(angle), np.sin(angle)])
    cv2.line(
        canvas,
        tuple(np.rint(root * 16).astype(int).tolist()),
        tuple(np.rint(tip * 16).astype(int).tolist()),
        int(rng.integers(120, 256)),
        1,
        cv2.LINE_AA,
        4,
    )
    if order:
        for along in np.arange(0.1, 0.95, 6 / length):
            for side in (-1, 1):
                _grow(
                    canvas, rng, root + along * (tip - root), angle + side * 0.9, (1 - along) * length * 0.4, order - 1
                )
