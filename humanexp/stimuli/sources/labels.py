"""Lists that say which category a picture file is of."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from analysis.file_names import composed
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids
from analysis.labels.mapping import label_of_class
from analysis.tables.reading import read_cells
from humanexp.core.errors import InputRefused
from humanexp.stimuli.sources.base import FoundFiles, LabelledFile, readable, told

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
