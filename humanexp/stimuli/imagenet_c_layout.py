"""Folders in the layout of ImageNet-C: function/level/class/file, perhaps with groups around the functions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from analysis.file_names import composed, litter_in
from analysis.generation.imagenet_c import LEVELS, PUBLISHED_FUNCTIONS
from analysis.labels.mapping import label_of_class
from humanexp.core.errors import InputRefused
from humanexp.stimuli.models import SourceSet

_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp"})
_NAMES_TOLD = 5


@dataclass(frozen=True)
class LevelFolder:
    """All pictures of one level of one function."""

    function: str
    level: int
    path: Path


@dataclass(frozen=True)
class MatchedPictures:
    """An original with the pictures that were made from it: function, level, path."""

    key: str
    sources: tuple[tuple[str, int, str], ...]


@dataclass
class Left:
    """What is not taken over, with the first names."""

    n: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, name: str, count: int = 1) -> None:
        self.n += count
        if len(self.names) < _NAMES_TOLD:
            self.names.append(name)

    def told(self) -> str:
        return ", ".join(self.names) + (", ..." if self.n > len(self.names) else "")


@dataclass
class Unmatched:
    """Everything in the folders that has no original, by the reason."""

    #: class folders of which the set of pictures holds no original; counted in folders of one level
    classes: Left = field(default_factory=Left)
    #: files without an original, though the set holds others of their class
    files: Left = field(default_factory=Left)
    #: a second file for the same original, function and level
    again: Left = field(default_factory=Left)
    #: neither a picture nor a folder where one belongs
    strange: Left = field(default_factory=Left)

    def sentences(self) -> list[str]:
        """What was left out, one sentence each."""
        kinds = (
            (self.classes, "class folders have no original in the set of pictures"),
            (self.files, "files have no original in the set of pictures"),
            (self.again, "files stand for an original a second time"),
            (self.strange, "files or folders do not belong there"),
        )
        return [f"{left.n} {what}: {left.told()}" for left, what in kinds if left.n]


def find_level_folders(root: Path, functions: Sequence[str] = ()) -> list[LevelFolder]:
    """Level folders of the wanted functions (all, where none is named), in the published order.

    `root` holds functions, or groups of functions as in the published archives, or is one function's folder itself.
    """
    _check_wanted(functions)
    if not root.is_dir():
        raise InputRefused(f"{root}: there is no such folder. Give the folder that holds the functions of ImageNet-C.")
    found: dict[str, Path] = {}
    others: list[str] = []
    for folder in _function_folders(root):
        name = re.sub(r"[\s-]+", "_", folder.name.lower())
        if functions and name not in functions:
            others.append(folder.name)
            continue
        if name not in PUBLISHED_FUNCTIONS:
            raise InputRefused(
                f"{folder}: {folder.name!r} is no function of ImageNet-C. Rename it to one of "
                f"{', '.join(PUBLISHED_FUNCTIONS)}, move it away, or name the wanted functions with --corruption."
            )
        if name in found:
            raise InputRefused(f"{folder} and {found[name]} both hold {name}: move one of them away.")
        found[name] = folder
    missing = [name for name in functions if name not in found]
    if missing:
        present = ", ".join([*found, *others]) or "none"
        raise InputRefused(f"{root}: there is no folder with levels for {', '.join(missing)}. There are: {present}.")
    if not found:
        raise InputRefused(
            f"{root}: there is no ImageNet-C in it. Give a folder laid out as FUNCTION/LEVEL/CLASS/FILE, for example "
            "gaussian_noise/1/n01440764/ILSVRC2012_val_00000293.JPEG."
        )
    return [
        LevelFolder(name, level, found[name] / str(level))
        for name in PUBLISHED_FUNCTIONS
        if name in found
        for level in _levels_in(found[name])
    ]


class Originals:
    """Originals of a set, found by class folder and file stem."""

    def __init__(self, source_set: SourceSet) -> None:
        self._by_stem: dict[str, list[tuple[str, frozenset[str]]]] = {}
        self._classes: set[str] = set()
        self._space = source_set.space
        images = source_set.images.order_by("key").values_list("key", "category", "wnid", "source_name")
        for key, category, wnid, source_name in images.iterator():
            folders = frozenset(name for name in (wnid, category, Path(source_name).parent.name) if name)
            # Sets that were imported before file names were kept have them in the key, behind the category.
            stem = Path(source_name).stem if source_name else key.removeprefix(f"{category}-")
            self._by_stem.setdefault(composed(stem), []).append((key, folders))
            self._classes |= folders

    def has_class(self, folder: str) -> bool:
        return not self._classes.isdisjoint(self._names_of(folder))

    def find(self, folder: str, stem: str) -> str | None:
        """Key of the original of a file, if exactly one fits: one in the same folder before one of the category."""
        known = self._by_stem.get(composed(stem), ())
        for name in self._names_of(folder):
            fitting = [key for key, folders in known if name in folders]
            if fitting:
                return fitting[0] if len(fitting) == 1 else None
        return None

    def _names_of(self, folder: str) -> tuple[str, ...]:
        """A class folder's name, and the label of the set that it belongs to by its WordNet id."""
        label = label_of_class(folder, self._space)
        return (folder,) if label is None else (folder, label)


def matched_pictures(
    folders: Sequence[LevelFolder], originals: Originals, unmatched: Unmatched
) -> Iterator[MatchedPictures]:
    """Every original that has pictures, class by class: no more than one class is in memory at a time."""
    by_class: dict[str, list[LevelFolder]] = {}
    for folder in folders:
        for entry in _entries(folder.path):
            if entry.is_dir():
                by_class.setdefault(entry.name, []).append(folder)
            else:
                unmatched.strange.add(entry.path)
    for name in sorted(by_class):
        if not originals.has_class(name):
            unmatched.classes.add(name, len(by_class[name]))
            continue
        found: dict[str, dict[tuple[str, int], str]] = {}
        for folder in by_class[name]:
            for entry in _entries(folder.path / name):
                _match(entry, folder, originals, unmatched, found)
        for key in sorted(found):
            yield MatchedPictures(
                key, tuple((function, level, path) for (function, level), path in sorted(found[key].items()))
            )


def _match(
    entry: os.DirEntry[str],
    folder: LevelFolder,
    originals: Originals,
    unmatched: Unmatched,
    found: dict[str, dict[tuple[str, int], str]],
) -> None:
    stem, suffix = os.path.splitext(entry.name)
    if suffix.lower() not in _SUFFIXES or not entry.is_file():
        unmatched.strange.add(entry.path)
        return
    key = originals.find(Path(entry.path).parent.name, stem)
    if key is None:
        unmatched.files.add(entry.path)
    elif (folder.function, folder.level) in (taken := found.setdefault(key, {})):
        unmatched.again.add(entry.path)
    else:
        taken[folder.function, folder.level] = entry.path


def _check_wanted(functions: Sequence[str]) -> None:
    for name in functions:
        if name not in PUBLISHED_FUNCTIONS:
            raise InputRefused(f"{name!r} is no function of ImageNet-C: choose from {', '.join(PUBLISHED_FUNCTIONS)}.")


def _function_folders(root: Path) -> list[Path]:
    """Folders with levels: the root, or folders in it, or in its groups."""
    if _levels_in(root):
        return [root]
    found = []
    for folder in _folders_in(root):
        found += [folder] if _levels_in(folder) else [inner for inner in _folders_in(folder) if _levels_in(inner)]
    return found


def _levels_in(folder: Path) -> list[int]:
    return [level for level in LEVELS if (folder / str(level)).is_dir()]


def _folders_in(folder: Path) -> list[Path]:
    return [Path(entry.path) for entry in _entries(folder) if entry.is_dir()]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for entry in entries if not _is_litter(entry)), key=lambda entry: entry.name)
    except OSError as error:
        raise InputRefused(f"{folder}: the folder cannot be read ({error.strerror}).") from error


def _is_litter(entry: os.DirEntry[str]) -> bool:
    return bool(litter_in(f"{entry.name}/" if entry.is_dir() else entry.name))
