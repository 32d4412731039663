"""Original files for tests, made by whole-number arithmetic alone."""

from __future__ import annotations

import hashlib
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from analysis.errors import PictureRefused
from analysis.generation.originals import inspect_originals
from analysis.original import Original
from tests.analysis.visual_change import pairs


def check_original(path: Path) -> tuple[int, int]:
    """Width and height of a picture file that an import would take."""
    (found,) = inspect_originals([str(path)])
    if found.refusal:
        raise PictureRefused(found.refusal)
    return found.width_px, found.height_px


def coloured(seed: int, height: int = 128, width: int = 128) -> np.ndarray:
    grey = pairs.scene(seed, height, width)
    return np.stack([grey, np.roll(grey, 3, axis=0), 255 - np.roll(grey, 4, axis=1)], axis=-1)


@cache
def _png(seed: int, size_px: int) -> bytes:
    """Drawn once: hundreds of tests begin with the same few."""
    stream = BytesIO()
    Image.fromarray(coloured(seed, size_px, size_px)).save(stream, format="PNG")
    return stream.getvalue()


def write_originals(folder: Path, per_category: dict[str, int], size_px: int = 128) -> list[Original]:
    """PNG originals in folders named by category."""
    originals = []
    for category, count in per_category.items():
        (folder / category).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            path = folder / category / f"{category}-{number}.png"
            content = _png(len(originals), size_px)
            path.write_bytes(content)
            sha256 = hashlib.sha256(content).hexdigest()
            originals.append(Original(f"{category}-{number}", category, str(path), sha256))
    return originals
