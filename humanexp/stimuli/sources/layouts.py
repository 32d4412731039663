"""Which files of a source are pictures of what: by their folders, by a list, by a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from analysis.file_names import without_litter
from analysis.labels.files import default_labels
from humanexp.core.errors import InputRefused
from humanexp.stimuli.sources import labels
from humanexp.stimuli.sources.base import FoundFiles, LabelledFile, PictureSource, Spellings, readable, told

_PICTURE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif"})
_ARCHIVE_SUFFIXES = frozenset({".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar"})
#: A list of labels of all of ImageNet's training pictures has 60 MB.
_MAXIMUM_LIST_BYTES = 100_000_000


@dataclass
class _Room:
    """The folder in which the labels stand, below folders that hold nothing else."""

    prefix: str
    #: names from here
    files: list[str] = field(default_factory=list)
    folders: dict[str, list[str]] = field(default_factory=dict)
    #: files beside the folders that were entered: name in the source by file name
    beside: dict[str, str] = field(default_factory=dict)

    @property
    def pictures(self) -> list[str]:
        return [name for name in self.files if _suffix(name) in _PICTURE_SUFFIXES]


def find_files(source: PictureSource, *, label_list: Path | None = None) -> FoundFiles:
    """Labelled files of a source.

    Understood are: one folder a category or WordNet id (also below other folders, as in `val/n02123045/`); the flat
    folder of ImageNet's validation pictures with a list of labels; and a CSV table `path,category`.

    Raises
    ------
    InputRefused
        Naming what stands in the way and what to do.
    """
    wanted, litter = without_litter(source.names())
    Spellings(wanted, title=source.title)
    nested = [name for name in wanted if _suffix(name) in _ARCHIVE_SUFFIXES]
    ignored = source.ignored() + ([f"archives within the source, not looked into: {told(nested)}"] if nested else [])
    ignored += _told_litter(litter)
    room = _find_room([name for name in wanted if _suffix(name) not in _ARCHIVE_SUFFIXES])
    found = _found(source, room, label_list)
    ignored += found.ignored
    if not found.files:
        without = f" Left out were {'; '.join(ignored)}." if ignored else ""
        raise InputRefused(
            f"{source.title}: there is no picture in it.{without} Give a folder that holds one folder a category "
            f"({', '.join(default_labels().ids[:3])} and so on) or WordNet id, or a CSV file with the columns path "
            "and category."
        )
    return FoundFiles(found.files, ignored)


def find_files_of_table(source: PictureSource, table: str) -> FoundFiles:
    """Labelled files of a CSV table `path,category` that lies in the source."""
    folder = PurePosixPath(table).parent
    return labels.read_table(
        _read_bytes(source, table),
        source=f"{source.title}/{table}",
        resolve=lambda path: source.as_written((folder / path.replace("\\", "/")).as_posix()),
    )


def _found(source: PictureSource, room: _Room, label_list: Path | None) -> FoundFiles:
    pictures = [room.prefix + name for name in room.pictures]
    if label_list is not None:
        every = pictures + [name for inner in room.folders.values() for name in inner]
        text = _read_bytes_of(label_list).decode("utf-8-sig", errors="replace")
        return labels.label_flat_files(
            every, labels.read_wnid_list(text, source=str(label_list)), source=str(label_list)
        )
    if pictures and all(labels.VALIDATION_NAME.fullmatch(PurePosixPath(name).name) for name in pictures):
        wnids, list_name = _validation_labels(source, room)
        return labels.label_flat_files(pictures, wnids, source=list_name)
    if not room.folders or not any(map(labels.is_label, room.folders)):
        tables = [name for file, name in sorted(room.beside.items()) if file.lower().endswith(".csv")]
        if len(tables) == 1:
            return find_files_of_table(source, tables[0])
    if pictures:
        raise InputRefused(f"{pictures[0]}: the picture has no category. Move it into the folder of its category.")
    return _from_folders(room)


def _from_folders(room: _Room) -> FoundFiles:
    files: list[LabelledFile] = []
    without: Counter[str] = Counter()
    for folder, names in sorted(room.folders.items()):
        category = labels.category_of(folder)
        if category is not None:
            files += [
                LabelledFile(name, category, labels.wnid_of(folder, PurePosixPath(name).name, category))
                for name in sorted(names)
            ]
        elif labels.is_label(folder):
            without[folder] = len(names)
        else:
            raise InputRefused(
                f"{room.prefix}{readable(folder)}: {readable(folder)!r} is neither one of the 16 categories nor a "
                f"WordNet id of ImageNet. Rename the folder to one of {', '.join(default_labels().ids)}, move it "
                "away, or import it by itself if it holds the folders of the categories."
            )
    ignored = [f"{name}: no folder" for name in room.files]
    if without:
        ignored.append(
            f"{without.total()} pictures in folders that belong to none of the 16 categories: {told(sorted(without))}"
        )
    return FoundFiles(files, ignored)


def _find_room(names: list[str]) -> _Room:
    """Walk down while there is one folder alone that is no label."""
    room = _Room("")
    while True:
        room.files, room.folders = [], {}
        for name in names:
            if name.startswith(room.prefix):
                first, slash, _rest = name[len(room.prefix) :].partition("/")
                if slash:
                    room.folders.setdefault(first, []).append(name)
                else:
                    room.files.append(first)
        room.beside.update({file: room.prefix + file for file in room.files if _suffix(file) not in _PICTURE_SUFFIXES})
        only = next(iter(room.folders)) if len(room.folders) == 1 else None
        if only is None or labels.is_label(only) or room.pictures:
            return room
        room.prefix += f"{only}/"


def _validation_labels(source: PictureSource, room: _Room) -> tuple[dict[str, str], str]:
    """The list of labels beside the flat folder, in the order of trust."""
    by_lower = {file.lower(): name for file, name in room.beside.items()}
    kaggle = by_lower.get(labels.KAGGLE_LIST.lower())
    if kaggle is not None:
        return labels.read_wnid_list(_read_text(source, kaggle), source=kaggle), kaggle
    outside = source.beside(labels.KAGGLE_LIST)
    if outside:
        return labels.read_wnid_list(outside, source=labels.KAGGLE_LIST), labels.KAGGLE_LIST
    numbers = by_lower.get(labels.NUMBER_LIST.lower())
    lists = [
        name for file, name in sorted(by_lower.items()) if file.endswith((".txt", ".csv", ".tsv")) and name != numbers
    ]
    for name in lists:
        text = _read_text(source, name)
        if "ILSVRC2012_val_" in text:
            return labels.read_wnid_list(text, source=name), name
    if numbers is not None:
        table = by_lower.get(labels.CLASS_TABLE)
        if table is None:
            raise labels.needs_class_table(numbers)
        return (
            labels.read_number_list(_read_text(source, numbers), _read_bytes(source, table), source=numbers),
            numbers,
        )
    raise InputRefused(
        f"{source.title}: these are ImageNet's validation pictures, and there is no list of their labels beside them. "
        f"Put {labels.KAGGLE_LIST} of Kaggle there, or a list with a file and its WordNet id a line."
    )


def _read_text(source: PictureSource, name: str) -> str:
    try:
        return _read_bytes(source, name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputRefused(f"{name}: this is no text in UTF-8 ({error}). Save it as CSV, UTF-8.") from error


def _read_bytes(source: PictureSource, name: str) -> bytes:
    with source.open(name) as stream:
        content = stream.read(_MAXIMUM_LIST_BYTES + 1)
    if len(content) > _MAXIMUM_LIST_BYTES:
        raise InputRefused(f"{name}: over {_MAXIMUM_LIST_BYTES // 10**6} MB, which is no list of pictures.")
    return content


def _read_bytes_of(path: Path) -> bytes:
    if not path.is_file():
        raise InputRefused(f"{path}: there is no such list of labels.")
    return path.read_bytes()


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _told_litter(litter: Counter[str]) -> list[str]:
    if not litter:
        return []
    kinds = [readable(name) if n == 1 else f"{readable(name)} ({n})" for name, n in litter.most_common()]
    files = "1 file" if litter.total() == 1 else f"{litter.total()} files"
    return [f"{files} left by systems and programs (thumbnails, bins, hidden files): {told(kinds)}"]
