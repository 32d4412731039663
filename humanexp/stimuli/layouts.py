"""Which files of a source are pictures of what: by their folders, by a list, by a table."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from analysis.file_names import composed, without_litter
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids
from analysis.labels.mapping import label_of_class
from analysis.tables.reading import read_cells
from humanexp.core.errors import InputRefused
from humanexp.stimuli.sources import FoundFiles, LabelledFile, PictureSource, Spellings, readable, told

KAGGLE_LIST = "LOC_val_solution.csv"
NUMBER_LIST = "ILSVRC2012_validation_ground_truth.txt"
CLASS_TABLE = "meta.mat"
#: Pictures of the validation half of ImageNet, as it is handed out: 50,000 in one folder.
VALIDATION_NAME = re.compile(r"ILSVRC2012_val_(\d{8})\.JPEG", re.IGNORECASE)
_WNID = re.compile(r"n\d{8}")
_KNOWN_WNIDS = frozenset(class_ids())


def category_of(label: str) -> str | None:
    """Category of a folder's or column's label; None where it has none."""
    space = default_labels()
    return label.lower() if label.lower() in space else label_of_class(label, space)


def is_label(label: str) -> bool:
    """Whether it is a category, or a WordNet id of ImageNet, perhaps of none of the 16 categories."""
    return label.lower() in default_labels() or label in _KNOWN_WNIDS


def wnid_of(label: str, file_name: str, category: str) -> str:
    """WordNet id that a label or the file's name (n02085936_1003.JPEG) tells, if it goes with the category."""
    if label in _KNOWN_WNIDS:
        return label
    wnid = file_name[:9]
    return wnid if file_name[9:10] == "_" and label_of_class(wnid, default_labels()) == category else ""


def read_table(content: bytes, *, source: str, resolve: Callable[[str], str]) -> FoundFiles:
    """Files of a CSV table with the columns path and category (or WordNet id).

    `resolve` turns a path of the table into a name of the source.
    """
    table = read_cells(content, source=source)
    missing = [name for name in ("path", "category") if name not in table.names]
    if missing:
        raise InputRefused(
            f"{source}: the column {missing[0]!r} is missing. The header must be path,category; the file has: "
            f"{readable(', '.join(table.names))}."
        )
    files: list[LabelledFile] = []
    without: Counter[str] = Counter()
    for number, cells in enumerate(table.records(), start=1):
        if not cells["path"]:
            raise InputRefused(f"{source}, row {number}: the column 'path' is empty. Fill it in.")
        label = cells["category"]
        category = category_of(label)
        if category is None:
            if not is_label(label):
                raise InputRefused(
                    f"{source}, row {number}, column 'category': {readable(label)!r} is none of the 16 categories "
                    f"({', '.join(default_labels().ids)}) and no WordNet id of ImageNet."
                )
            without[label] += 1
            continue
        name = resolve(cells["path"])
        files.append(LabelledFile(name, category, wnid_of(label, PurePosixPath(name).name, category)))
    if not files and not without:
        raise InputRefused(f"{source}: the file names no picture. It needs a header path,category and a row a picture.")
    return FoundFiles(files, _without_category(without))


def read_wnid_list(text: str, *, source: str) -> dict[str, str]:
    """WordNet id by file name without suffix: from `file wnid` a line, or Kaggle's LOC_val_solution.csv."""
    wnids: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = [word for word in re.split(r"[,;\s]+", line.strip()) if word]
        if not words or line.lstrip().startswith("#"):
            continue
        if len(words) < 2 or not _WNID.fullmatch(words[1]):
            if not wnids and len(words) >= 2 and number == 1 and not words[1].isdigit():
                continue  # a header
            raise InputRefused(
                f"{source}, line {number}: {readable(line.strip())[:60]!r} is no file and WordNet id, as in "
                "ILSVRC2012_val_00000001.JPEG n01751748."
            )
        stem = PurePosixPath(words[0].replace("\\", "/")).name
        stem = composed(stem.rsplit(".", 1)[0] if "." in stem else stem)
        if wnids.setdefault(stem, words[1]) != words[1]:
            raise InputRefused(f"{source}, line {number}: {stem} has two WordNet ids. Remove one of the lines.")
    if not wnids:
        raise InputRefused(f"{source}: the list names no file. It needs a file and its WordNet id a line.")
    return wnids


def read_number_list(text: str, class_table: bytes, *, source: str) -> dict[str, str]:
    """WordNet id by file name from the development kit: a number a line, and the table of numbers in meta.mat."""
    wnid_of_number = _class_numbers(class_table)
    wnids = {}
    for number, line in enumerate(text.split(), start=1):
        if not line.isdigit() or int(line) not in wnid_of_number:
            raise InputRefused(f"{source}, line {number}: {readable(line)[:40]!r} is no class number of meta.mat.")
        wnids[f"ILSVRC2012_val_{number:08d}"] = wnid_of_number[int(line)]
    return wnids


def needs_class_table(source: str) -> InputRefused:
    return InputRefused(
        f"{source} names classes by the numbers of ImageNet's development kit, and {CLASS_TABLE} is not beside it. Put "
        f"{CLASS_TABLE} of ILSVRC2012_devkit_t12/data there, or {KAGGLE_LIST} of Kaggle, or a list with a file and its "
        "WordNet id a line."
    )


def label_flat_files(names: list[str], wnids: Mapping[str, str], *, source: str) -> FoundFiles:
    """Files by a list; a file that the list lacks is refused, for it would be lost silently."""
    files: list[LabelledFile] = []
    without: Counter[str] = Counter()
    for name in names:
        path = PurePosixPath(name)
        wnid = wnids.get(composed(path.stem))
        if wnid is None:
            raise InputRefused(
                f"{name}: {source} has no line for this picture. Complete the list, or remove the picture."
            )
        category = label_of_class(wnid, default_labels())
        if category is None:
            without[wnid] += 1
        else:
            files.append(LabelledFile(name, category, wnid))
    return FoundFiles(files, _without_category(without))


def _without_category(wnids: Counter[str]) -> list[str]:
    if not wnids:
        return []
    return [f"{wnids.total()} pictures whose WordNet ids belong to none of the 16 categories: {told(sorted(wnids))}"]


def _class_numbers(class_table: bytes) -> dict[int, str]:
    """ILSVRC2012_ID to WNID, of the leaves (ids 1 to 1000) of meta.mat's table `synsets`."""
    from scipy.io import loadmat

    try:
        # An open file is taken as well, which the stubs do not say.
        synsets = loadmat(io.BytesIO(class_table), squeeze_me=True)["synsets"]  # type: ignore[arg-type]
        return {
            int(number): str(wnid)
            for number, wnid in zip(synsets["ILSVRC2012_ID"], synsets["WNID"], strict=True)
            if int(number) <= len(class_ids())
        }
    except Exception as error:  # of a file from anywhere: loadmat raises whatever it meets
        raise InputRefused(
            f"{CLASS_TABLE} cannot be read ({error}). Take it from the development kit again."
        ) from error


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
    return read_table(
        _read_bytes(source, table),
        source=f"{source.title}/{table}",
        resolve=lambda path: source.as_written((folder / path.replace("\\", "/")).as_posix()),
    )


def _found(source: PictureSource, room: _Room, label_list: Path | None) -> FoundFiles:
    pictures = [room.prefix + name for name in room.pictures]
    if label_list is not None:
        every = pictures + [name for inner in room.folders.values() for name in inner]
        text = _read_bytes_of(label_list).decode("utf-8-sig", errors="replace")
        return label_flat_files(every, read_wnid_list(text, source=str(label_list)), source=str(label_list))
    if pictures and all(VALIDATION_NAME.fullmatch(PurePosixPath(name).name) for name in pictures):
        wnids, list_name = _validation_labels(source, room)
        return label_flat_files(pictures, wnids, source=list_name)
    if not room.folders or not any(map(is_label, room.folders)):
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
        category = category_of(folder)
        if category is not None:
            files += [
                LabelledFile(name, category, wnid_of(folder, PurePosixPath(name).name, category))
                for name in sorted(names)
            ]
        elif is_label(folder):
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
        if only is None or is_label(only) or room.pictures:
            return room
        room.prefix += f"{only}/"


def _validation_labels(source: PictureSource, room: _Room) -> tuple[dict[str, str], str]:
    """The list of labels beside the flat folder, in the order of trust."""
    by_lower = {file.lower(): name for file, name in room.beside.items()}
    kaggle = by_lower.get(KAGGLE_LIST.lower())
    if kaggle is not None:
        return read_wnid_list(_read_text(source, kaggle), source=kaggle), kaggle
    outside = source.beside(KAGGLE_LIST)
    if outside:
        return read_wnid_list(outside, source=KAGGLE_LIST), KAGGLE_LIST
    numbers = by_lower.get(NUMBER_LIST.lower())
    lists = [
        name for file, name in sorted(by_lower.items()) if file.endswith((".txt", ".csv", ".tsv")) and name != numbers
    ]
    for name in lists:
        text = _read_text(source, name)
        if "ILSVRC2012_val_" in text:
            return read_wnid_list(text, source=name), name
    if numbers is not None:
        table = by_lower.get(CLASS_TABLE)
        if table is None:
            raise needs_class_table(numbers)
        return (
            read_number_list(_read_text(source, numbers), _read_bytes(source, table), source=numbers),
            numbers,
        )
    raise InputRefused(
        f"{source.title}: these are ImageNet's validation pictures, and there is no list of their labels beside them. "
        f"Put {KAGGLE_LIST} of Kaggle there, or a list with a file and its WordNet id a line."
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
