"""Which picture files a folder or a table names, and with which category."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from analysis.categories import CATEGORIES, IMAGENET_WNIDS, WNID_TO_CATEGORY
from humanexp.core.errors import InputRefused

_PICTURE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif"})
#: Left behind by file browsers in any folder that was looked at.
_LITTER = frozenset({"thumbs.db", "desktop.ini"})


@dataclass(frozen=True)
class LabelledFile:
    path: Path
    category: str


@dataclass(frozen=True)
class FoundFiles:
    files: list[LabelledFile]
    #: what was left out, one sentence each
    ignored: list[str]


def find_files(source: Path) -> FoundFiles:
    """Labelled files of a folder with one folder a category (or WordNet id), or of a CSV file `path,category`."""
    if not source.exists():
        raise InputRefused(f"{source}: there is no such folder or file.")
    if source.is_file():
        return _from_csv(source)
    found = _from_folders(source)
    tables = sorted(source.glob("*.csv"))
    if not found.files and len(tables) == 1:
        return _from_csv(tables[0])
    if not found.files:
        raise InputRefused(
            f"{source}: there is no picture in it. Give a folder that holds one folder a category "
            f"({', '.join(CATEGORIES[:3])} and so on), or a CSV file with the columns path and category."
        )
    return found


def _from_folders(source: Path) -> FoundFiles:
    files: list[LabelledFile] = []
    ignored: list[str] = []
    for entry in sorted(source.iterdir()):
        if _is_litter(entry):
            continue
        if not entry.is_dir():
            if entry.suffix.lower() in _PICTURE_SUFFIXES:
                raise InputRefused(f"{entry}: the picture has no category. Move it into the folder of its category.")
            ignored.append(f"{entry.name}: no folder")
            continue
        category = _category(entry.name)
        if category is None:
            if entry.name not in IMAGENET_WNIDS:
                raise InputRefused(
                    f"{entry}: {entry.name!r} is neither one of the 16 categories nor a WordNet id of ImageNet. Rename "
                    f"the folder to one of {', '.join(CATEGORIES)}, or move it away."
                )
            ignored.append(f"{entry.name}: belongs to none of the 16 categories")
            continue
        files += [
            LabelledFile(path, category) for path in sorted(entry.rglob("*")) if path.is_file() and not _is_litter(path)
        ]
    return FoundFiles(files, ignored)


def _from_csv(source: Path) -> FoundFiles:
    try:
        with source.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputRefused(f"{source}: this is no CSV file in UTF-8 ({error}). Save it as CSV, UTF-8.") from error
    files = []
    for number, row in enumerate(rows, start=1):
        cells = {str(name).strip().lower(): (cell or "").strip() for name, cell in row.items() if name is not None}
        missing = [name for name in ("path", "category") if name not in cells]
        if missing:
            raise InputRefused(f"{source}: the column {missing[0]!r} is missing. The header must be path,category.")
        if not cells["path"]:
            raise InputRefused(f"{source}, row {number}: the column 'path' is empty. Fill it in.")
        category = _category(cells["category"])
        if category is None:
            raise InputRefused(
                f"{source}, row {number}, column 'category': {cells['category']!r} is none of the 16 categories: "
                f"{', '.join(CATEGORIES)}."
            )
        files.append(LabelledFile(source.parent / cells["path"], category))
    if not files:
        raise InputRefused(f"{source}: the file names no picture. It needs a header path,category and a row a picture.")
    return FoundFiles(files, [])


def _is_litter(path: Path) -> bool:
    return path.name.startswith(".") or path.name.lower() in _LITTER


def _category(name: str) -> str | None:
    return name.lower() if name.lower() in CATEGORIES else WNID_TO_CATEGORY.get(name)
