"""Which files of a source are pictures of what: by their folders, by a list, by a table."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from analysis.file_names import composed, without_litter
from analysis.labels.imagenet import class_ids
from analysis.tables.reading import read_cells
from analysis.tables.trials import TRIALS
from humanexp.core.errors import InputRefused
from humanexp.stimuli.labelling import Labelling
from humanexp.stimuli.sources import FoundFiles, LabelledFile, PictureSource, Spellings, readable, told

KAGGLE_LIST = "LOC_val_solution.csv"
NUMBER_LIST = "ILSVRC2012_validation_ground_truth.txt"
CLASS_TABLE = "meta.mat"
#: Pictures of the validation half of ImageNet, as it is handed out: 50,000 in one folder.
VALIDATION_NAME = re.compile(r"ILSVRC2012_val_(\d{8})\.JPEG", re.IGNORECASE)
_WNID = re.compile(r"n\d{8}")
_LONGEST_FACTOR = 80

#: Names of the columns of a table, the first as it is written here; Hugging Face's folders have metadata.csv.
_PATH, _LABEL = ("path", "file_name"), ("category", "label")


def read_table(
    content: bytes,
    *,
    source: str,
    resolve: Callable[[str], str],
    labelling: Labelling | None = None,
    factors: Sequence[str] = (),
) -> FoundFiles:
    """Files of a CSV table with the columns path and category (or WordNet id), and perhaps accepted and competing.

    `resolve` turns a path of the table into a name of the source; `factors` are further columns that are kept.
    """
    labelling = labelling or Labelling()
    table = read_cells(content, source=source)
    path, category = (next((name for name in names if name in table.names), names[0]) for names in (_PATH, _LABEL))
    missing = [name for name in (path, category, *factors) if name not in table.names]
    if missing:
        raise InputRefused(
            f"{source}: the column {missing[0]!r} is missing. The header must be path,category; the file has: "
            f"{readable(', '.join(table.names))}."
        )
    taken = [name for name in factors if name in TRIALS.names]
    if taken:
        raise InputRefused(
            f"{source}: a factor called {taken[0]!r} would be taken for a column of the answers. Rename it."
        )
    files: list[LabelledFile] = []
    n_without_answer = 0
    for number, cells in enumerate(table.records(), start=1):
        if not cells[path]:
            raise InputRefused(f"{source}, row {number}: the column {path!r} is empty. Fill it in.")

        def label_in(column: str, written: str, number: int = number) -> str:
            if not labelling.is_known(written):
                raise InputRefused(
                    f"{source}, row {number}, column {column!r}: {readable(written)!r} is none of {labelling.title} "
                    f"({labelling.some}) and no WordNet id of ImageNet."
                )
            return labelling.label(written) or ""

        label_in(category, cells[category])
        label = labelling.count(cells[category])
        if label is None:
            continue
        accepted = [label_in("accepted", written) for written in cells.get("accepted", "").split()]
        if "accepted" in table.names and not any(accepted):
            n_without_answer += 1
            continue
        competing = label_in("competing", cells["competing"]) if cells.get("competing") else ""
        if competing == label:
            raise InputRefused(
                f"{source}, row {number}, column 'competing': {competing!r} is the picture's own label. The column "
                "names what else it could be taken for; leave it empty where there is nothing."
            )
        name = resolve(cells[path])
        files.append(
            LabelledFile(
                name,
                label,
                labelling.wnid(cells[category], PurePosixPath(name).name, label),
                accepted=tuple(sorted({one for one in accepted if one})),
                competing=competing,
                factors={factor: _factor(cells[factor], source, number, factor) for factor in factors},
            )
        )
    if not files and not labelling.read:
        raise InputRefused(f"{source}: the file names no picture. It needs a header path,category and a row a picture.")
    ignored = labelling.left_out
    if n_without_answer:
        ignored.append(f"{n_without_answer} pictures of which no label is accepted as an answer")
    return FoundFiles(files, ignored)


def _factor(value: str, source: str, row: int, column: str) -> str:
    if len(value) > _LONGEST_FACTOR or not value.isprintable():
        raise InputRefused(
            f"{source}, row {row}, column {column!r}: a factor is at most {_LONGEST_FACTOR} characters that can be "
            "shown. Shorten it to a name of its group."
        )
    return value


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


def label_flat_files(names: list[str], wnids: Mapping[str, str], *, source: str, labelling: Labelling) -> FoundFiles:
    """Files by a list; a file that the list lacks is refused, for it would be lost silently."""
    files: list[LabelledFile] = []
    for name in names:
        path = PurePosixPath(name)
        wnid = wnids.get(composed(path.stem))
        if wnid is None:
            raise InputRefused(
                f"{name}: {source} has no line for this picture. Complete the list, or remove the picture."
            )
        label = labelling.count(wnid)
        if label is not None:
            files.append(LabelledFile(name, label, wnid))
    return FoundFiles(files, labelling.left_out)


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


def find_files(
    source: PictureSource,
    *,
    label_list: Path | None = None,
    labelling: Labelling | None = None,
    factors: Sequence[str] = (),
) -> FoundFiles:
    """Labelled files of a source.

    Understood are: one folder a label or WordNet id (also below other folders, as in `val/n02123045/`); the flat
    folder of ImageNet's validation pictures with a list of labels; and a CSV table `path,category`, alone or in a
    folder of pictures (`metadata.csv` with `file_name` and `label`).

    Raises
    ------
    InputRefused
        Naming what stands in the way and what to do.
    """
    labelling = labelling or Labelling()
    wanted, litter = without_litter(source.names())
    Spellings(wanted, title=source.title)
    nested = [name for name in wanted if _suffix(name) in _ARCHIVE_SUFFIXES]
    ignored = source.ignored() + ([f"archives within the source, not looked into: {told(nested)}"] if nested else [])
    ignored += _told_litter(litter)
    room = _find_room([name for name in wanted if _suffix(name) not in _ARCHIVE_SUFFIXES], labelling)
    found = _found(source, room, label_list, labelling, factors)
    ignored += found.ignored
    if not found.files:
        without = f" Left out were {'; '.join(ignored)}." if ignored else ""
        raise InputRefused(
            f"{source.title}: there is no picture in it.{without} Give a folder that holds one folder a category "
            f"({', '.join(labelling.space.ids[:3])} and so on) or WordNet id, or a CSV file with the columns path "
            "and category."
        )
    return FoundFiles(found.files, ignored, labelling.told)


def find_files_of_table(
    source: PictureSource, table: str, labelling: Labelling | None = None, factors: Sequence[str] = ()
) -> FoundFiles:
    """Labelled files of a CSV table `path,category` that lies in the source."""
    folder = PurePosixPath(table).parent
    return read_table(
        _read_bytes(source, table),
        source=f"{source.title}/{table}",
        resolve=lambda path: source.as_written((folder / path.replace("\\", "/")).as_posix()),
        labelling=labelling,
        factors=factors,
    )


def _found(
    source: PictureSource, room: _Room, label_list: Path | None, labelling: Labelling, factors: Sequence[str]
) -> FoundFiles:
    pictures = [room.prefix + name for name in room.pictures]
    if label_list is not None:
        every = pictures + [name for inner in room.folders.values() for name in inner]
        text = _read_bytes_of(label_list).decode("utf-8-sig", errors="replace")
        wnids = read_wnid_list(text, source=str(label_list))
        return label_flat_files(every, wnids, source=str(label_list), labelling=labelling)
    if pictures and all(VALIDATION_NAME.fullmatch(PurePosixPath(name).name) for name in pictures):
        wnids, list_name = _validation_labels(source, room)
        return label_flat_files(pictures, wnids, source=list_name, labelling=labelling)
    if factors or not any(map(labelling.is_known, room.folders)):
        tables = [name for file, name in sorted(room.beside.items()) if file.lower().endswith(".csv")]
        if len(tables) == 1:
            return find_files_of_table(source, tables[0], labelling, factors)
    if factors:
        raise InputRefused(
            f"{source.title}: factors are columns of a table, and there is no CSV file with path,category beside the "
            "pictures, or more than one. Put one there, or name the table itself."
        )
    if pictures:
        raise InputRefused(f"{pictures[0]}: the picture has no category. Move it into the folder of its category.")
    return _from_folders(room, labelling)


def _from_folders(room: _Room, labelling: Labelling) -> FoundFiles:
    files: list[LabelledFile] = []
    for folder, names in sorted(room.folders.items()):
        if not labelling.is_known(folder):
            raise InputRefused(
                f"{room.prefix}{readable(folder)}: {readable(folder)!r} is neither one of {labelling.title} nor a "
                f"WordNet id of ImageNet. Rename the folder to one of {labelling.some}, move it away, or import it by "
                "itself if it holds the folders of the labels."
            )
        label = labelling.count(folder, len(names))
        if label is not None:
            files += [
                LabelledFile(name, label, labelling.wnid(folder, PurePosixPath(name).name, label))
                for name in sorted(names)
            ]
    return FoundFiles(files, [f"{name}: no folder" for name in room.files] + labelling.left_out)


def _find_room(names: list[str], labelling: Labelling) -> _Room:
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
        if only is None or labelling.is_known(only) or room.pictures:
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
