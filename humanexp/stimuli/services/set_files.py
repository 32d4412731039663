"""Files next to the pictures: the manifest of a complete set, small copies for pages, and masks for use elsewhere."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from analysis import opencv as cv2
from analysis.errors import PictureRefused, TableRefused
from analysis.file_names import litter_in
from analysis.generation.files import UNFINISHED, told_as_sentence
from analysis.generation.originals import FORMATS, prepare_original, read_picture
from analysis.masks import MaskKind, check_size, make_mask, mask_kind
from analysis.tables.schema import guard
from analysis.tables.stimuli import stimuli_table
from humanexp.core.errors import InputRefused, NotFound
from humanexp.core.storage import current_path, media_path, write_whole
from humanexp.stimuli.models import SourceImage, StimulusSet
from humanexp.stimuli.selectors.sets import manifest_rows


@dataclass(frozen=True)
class ManifestFindings:
    """How manifest, rows and folder of a set agree; sentences say how they do not."""

    rows: int
    problems: tuple[str, ...]


def manifest_path(stimulus_set: StimulusSet) -> Path:
    return media_path(f"stimuli/{stimulus_set.name}/manifest.parquet")


def write_manifest(stimulus_set: StimulusSet) -> str:
    """Write the manifest whole or not at all; returns its digest. The same rows give the same bytes."""
    path = manifest_path(stimulus_set)
    unfinished = path.parent / UNFINISHED / path.name
    with told_as_sentence(path):
        try:
            unfinished.parent.mkdir(parents=True, exist_ok=True)
            stimuli_table(stimulus_set.enlarged).write_rows(manifest_rows(stimulus_set), unfinished)
            with unfinished.open("rb+") as file:
                os.fsync(file.fileno())
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            os.replace(unfinished, path)
        finally:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
                unfinished.parent.rmdir()
    return sha256


def check_manifest(stimulus_set: StimulusSet) -> ManifestFindings:
    """Compare the manifest with its digest and, row by row, with the database."""
    path = current_path(f"stimuli/{stimulus_set.name}/manifest.parquet")
    if not path.is_file():
        return ManifestFindings(0, ("the manifest is missing",))
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    problems = [] if sha256 == stimulus_set.manifest_sha256 else ["the manifest is not the one that was written"]
    n_rows = n_different = 0
    first = ""
    try:
        rows = stimuli_table(stimulus_set.enlarged).read_rows(path)
        for written, stored in itertools.zip_longest(rows, manifest_rows(stimulus_set)):
            n_rows += written is not None
            if written != stored:
                n_different += 1
                first = first or str((written or stored or {}).get("stimulus", ""))
    except TableRefused as error:
        return ManifestFindings(n_rows, (*problems, str(error)))
    if n_different:
        problems.append(f"{n_different} rows of manifest and database differ, the first of them {first}")
    return ManifestFindings(n_rows, tuple(problems))


class _Line:
    """What the csv writer writes to: it hands each line on instead of keeping it."""

    def write(self, text: str) -> str:
        return text


def manifest_lines(stimulus_set: StimulusSet) -> Iterator[str]:
    """The stimuli of a set as CSV, line by line, columns of their table."""
    writer = csv.DictWriter(_Line(), stimuli_table(stimulus_set.enlarged).names, lineterminator="\n")
    yield str(writer.writeheader())
    for row in manifest_rows(stimulus_set):
        yield str(writer.writerow({name: guard(cell) if isinstance(cell, str) else cell for name, cell in row.items()}))


#: Longer side of an original's copies by name, and of a stimulus's.
SIDES_PX = {"small": 192, "large": 1024}
STIMULUS_PX = 128
_QUALITY = 85


def original_thumbnail(image: SourceImage, size: str) -> Path:
    """File of the small copy; made if it is not there."""
    if size not in SIDES_PX:
        raise NotFound(f"There is no size {size!r}; there are: {', '.join(SIDES_PX)}.")
    path = media_path(f"thumbnails/{image.source_set.name}/{image.pk}-{image.sha256[:16]}-{size}.jpg")
    if not path.is_file():
        try:
            write_whole(path, _jpeg(current_path(image.file), SIDES_PX[size]))
        except PictureRefused as error:
            raise NotFound("The file of this picture is missing or damaged: restore it from the backup.") from error
    return path


def stimulus_thumbnail(path: Path) -> bytes:
    """A stimulus's file at 128 px, as JPEG."""
    try:
        return _jpeg(path, STIMULUS_PX)
    except PictureRefused as error:
        raise NotFound(f"The file {path.name} is damaged: run verify_stimuli.") from error


def _jpeg(path: Path, side_px: int) -> bytes:
    picture = Image.fromarray(read_picture(path))
    picture.thumbnail((side_px, side_px), Image.Resampling.BICUBIC, reducing_gap=2.0)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()


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
