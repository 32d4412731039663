"""Masks as files for use elsewhere: a folder of PNG files and a manifest, written whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis import opencv as cv2
from analysis.file_names import litter_in
from analysis.generation.originals import FORMATS, prepare_original
from analysis.masks import MaskKind, check_size, make_mask, mask_kind
from humanexp.core.errors import InputRefused

MAXIMUM_COUNT = 100_000
MANIFEST = "manifest.csv"
COLUMNS = ("file", "kind", "seed", "size_px", "contrast", "picture", "sha256")

_SUFFIXES = frozenset({".jpg", ".jpeg", *(f".{name.lower()}" for name in FORMATS)})


def write_masks(
    *, kind: str, size_px: int, count: int, seed: int, folder: Path, pictures: Path | None = None
) -> list[dict[str, Any]]:
    """Write ``count`` masks, the i-th with the seed ``seed + i``, and return the rows of the manifest.

    The folder must be new or empty: it appears complete, or not at all. Kinds that need a picture take those of the
    folder ``pictures`` in the order of their names, again from the first when they are used up.
    """
    chosen = mask_kind(kind)
    check_size(size_px)
    if not 1 <= count <= MAXIMUM_COUNT:
        raise InputRefused(f"1 to {MAXIMUM_COUNT} masks can be made at once, not {count}.")
    if seed < 0:
        raise InputRefused(f"The seed must be 0 or more, not {seed}.")
    sources = _pictures(chosen, pictures)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputRefused(f"{folder} exists already: name a new or an empty folder.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
    except OSError as error:
        raise InputRefused(f"{folder} cannot be written: {error.strerror}.") from error
    try:
        rows = [_write_mask(unfinished, chosen, number, seed + number, size_px, sources) for number in range(count)]
        with (unfinished / MANIFEST).open("w", newline="", encoding="utf-8") as stream:
            table = csv.DictWriter(stream, COLUMNS)
            table.writeheader()
            table.writerows(rows)
        os.replace(unfinished, folder)
    except OSError as error:
        raise InputRefused(f"{folder} cannot be written: {error.strerror}. Nothing was kept.") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return rows


def _write_mask(
    folder: Path, kind: MaskKind, number: int, seed: int, size_px: int, sources: Sequence[Path]
) -> dict[str, Any]:
    source = sources[number % len(sources)] if sources else None
    picture = prepare_original(source, size_px) if source else None
    png = _grey_or_rgb_png(make_mask(kind.name, seed, size_px, picture))
    file = f"{number:06d}.png"
    (folder / file).write_bytes(png)
    return {
        "file": file,
        "kind": kind.name,
        "seed": seed,
        "size_px": size_px,
        "contrast": "" if kind.contrast is None else kind.contrast,
        "picture": source.name if source else "",
        "sha256": hashlib.sha256(png).hexdigest(),
    }


def _pictures(kind: MaskKind, folder: Path | None) -> list[Path]:
    if not kind.needs_picture:
        if folder is not None:
            raise InputRefused(f"Masks of the kind {kind.name} are not made from pictures: leave --pictures out.")
        return []
    if folder is None:
        raise InputRefused(f"Masks of the kind {kind.name} are made from pictures: name their folder by --pictures.")
    if not folder.is_dir():
        raise InputRefused(f"There is no folder {folder}.")
    sources = sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES and not litter_in(path.name))
    if not sources:
        raise InputRefused(f"The folder {folder} holds no picture.")
    return sources


def _grey_or_rgb_png(pixels: Any) -> bytes:
    _, png = cv2.imencode(".png", pixels if pixels.ndim == 2 else cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))
    return bytes(png.tobytes())
