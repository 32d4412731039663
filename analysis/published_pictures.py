"""Pictures and answers that belong to published trials, by the names that their authors gave them.

A trial names its picture with a running number, the experiment and the observer in front (``0001_edg_s01_0_oven_00_``
``oven10.png``); the files of pictures carry such a name, or its last part alone (``oven10.png``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from analysis.errors import PictureRefused, TableRefused
from analysis.file_names import composed, without_litter
from analysis.labels.lists import ACCEPTED, COMPETING
from analysis.labels.space import NO_ANSWER, LabelSpace
from analysis.observers.questions import Style
from analysis.observers.scoring import read_answer
from analysis.published_trials import ORIGINAL, original_of, picture_name
from analysis.tables.reading import read_table
from analysis.trial_meaning import number_in

if TYPE_CHECKING:
    import pandas as pd


SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".gif"})
#: Names in one sentence; the rest is counted.
_TOLD = 5
_WORDNET = re.compile(r"n\d{8}_\d+")


@dataclass(frozen=True, slots=True)
class PublishedPicture:
    """A picture of published trials.

    Attributes
    ----------
    stimulus, original, category, condition : str
        As in the table of trials.
    """

    stimulus: str
    original: str
    category: str
    condition: str

    @property
    def name(self) -> str:
        """By which its file is found: that of the trial's image within the condition, usually that of the original."""
        inside = f"{self.condition}/"
        return self.stimulus.removeprefix(inside) if self.stimulus.startswith(inside) else self.original


@dataclass(frozen=True, slots=True)
class Matched:
    """Pictures with their files, in the published order.

    Attributes
    ----------
    files : list of (PublishedPicture, str)
        Each picture with the name of its file.
    unused : int
        Picture files that belong to no trial.
    """

    files: list[tuple[PublishedPicture, str]]
    unused: int


def pictures_of_trials(trials: pd.DataFrame) -> list[PublishedPicture]:
    """The different pictures, in the order in which the first observer who saw each of them met it.

    Parameters
    ----------
    trials : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`, as `analysis.published_trials` reads them.

    Raises
    ------
    PictureRefused
        If two trials with one picture have different categories.
    """
    different = trials.groupby("stimulus")["category"].nunique()
    if (different > 1).any():
        name = different.index[int((different > 1).to_numpy().argmax())]
        raise PictureRefused(f"The trials give the picture {name} different categories. Correct the trial files.")
    first = trials.drop_duplicates("stimulus")
    columns = (first[name].astype(str) for name in ("stimulus", "original", "category", "condition"))
    return [PublishedPicture(*row) for row in zip(*columns, strict=True)]


def match_pictures(pictures: Sequence[PublishedPicture], names: Sequence[str], *, where: str) -> Matched:
    """Find the file of every picture.

    Parameters
    ----------
    pictures : sequence of PublishedPicture
    names : sequence of str
        Paths of all files, parts separated by slashes.
    where : str
        What refusals call the folder.

    Returns
    -------
    Matched

    Raises
    ------
    PictureRefused
        Naming pictures that have no file, or several.

    Notes
    -----
    A file belongs to a picture if its name, without suffix and without number, experiment and observer, is that of the
    trial, or the last part of it. Where an original was shown in several conditions, or several files have the name,
    the file must also name the condition: as a part of its name between underscores, or as a folder.
    """
    by_name: dict[str, list[str]] = {}
    own, _ = without_litter(names)
    for name in own:
        path = PurePosixPath(name)
        if path.suffix.lower() in SUFFIXES:
            for key in {composed(path.stem), composed(original_of(path.name))}:
                by_name.setdefault(key, []).append(name)
    conditions: dict[str, set[str]] = {}
    for picture in pictures:
        conditions.setdefault(picture.name, set()).add(picture.condition)
    files, missing, doubled = [], [], []
    for picture in pictures:
        found = _candidates(picture, by_name)
        if len(conditions[picture.name]) > 1 or len(found) > 1:
            fitting = [name for name in found if _names_condition(name, picture.condition)]
            found = fitting if fitting or len(conditions[picture.name]) > 1 else found
        if not found:
            missing.append(picture.stimulus)
        elif len(found) > 1:
            doubled.append(f"{picture.stimulus} ({', '.join(found[:2])})")
        else:
            files.append((picture, found[0]))
    _refuse(missing, doubled, where=where)
    pictured = [name for name in own if PurePosixPath(name).suffix.lower() in SUFFIXES]
    return Matched(files, len(pictured) - len({name for _, name in files}))


def match_originals(pictures: Sequence[PublishedPicture], names: Sequence[str], *, where: str) -> dict[str, str]:
    """Find the file of every original, by the rule of `match_pictures`; conditions do not count.

    Raises
    ------
    PictureRefused
        Naming originals that have no file, or several.
    """
    once = {one.original: PublishedPicture(one.original, one.original, one.category, "") for one in pictures}
    matched = match_pictures(list(once.values()), names, where=where)
    return {one.original: file for one, file in matched.files}


def _candidates(picture: PublishedPicture, by_name: dict[str, list[str]]) -> list[str]:
    """Files of the whole name, or else of its last part."""
    name = composed(picture.name)
    whole = by_name.get(name)
    if whole or _WORDNET.fullmatch(picture.name):
        return whole or []
    return by_name.get(name.rsplit("_", 1)[-1], [])


def _names_condition(name: str, condition: str) -> bool:
    path = PurePosixPath(name)
    number = number_in(condition)
    parts = (*path.parent.parts, *path.stem.split("_"))
    return condition in parts or (number is not None and number in map(number_in, parts))


def _refuse(missing: Sequence[str], doubled: Sequence[str], *, where: str) -> None:
    parts = []
    if missing:
        parts.append(f"{len(missing)} pictures of the trials are missing: {_told(missing)}.")
    if doubled:
        parts.append(f"{len(doubled)} pictures have several files: {_told(doubled)}.")
    if parts:
        raise PictureRefused(
            f"{where}: {' '.join(parts)} Each file needs the name of its trial's `imagename`, or the last part of it "
            "(oven10.png); an original of several conditions also needs the condition, in its name or as its folder."
        )


def _told(names: Sequence[str]) -> str:
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return ", ".join(names[:_TOLD]) + more


#: Letters of a text in a list of differences.
_LONGEST_TEXT = 60


@dataclass(frozen=True)
class ReadAnswers:
    """What a model's texts were read as.

    Attributes
    ----------
    model : str
    trials : pandas.DataFrame
        A trial for each text, columns as those of trial files.
    kinds : dict of str to int
        Number of labels, misses, refusals and unreadable texts.
    otherwise : tuple of str
        Texts that the authors read otherwise, a line each: picture, text, their label and the one here.
    """

    model: str
    trials: pd.DataFrame
    kinds: dict[str, int]
    otherwise: tuple[str, ...]


#: The authors put day and time in front of a model's name.
_DATE = re.compile(r"^\d{8}_\d{6}_")


def read_answers(
    path: Path, trials: pd.DataFrame, style: Style, space: LabelSpace, *, is_partly: bool = False
) -> ReadAnswers:
    """Read the texts of one model.

    Parameters
    ----------
    path : Path
        CSV (UTF-8) with the columns ``image`` and ``response``, and perhaps ``pred_label``: as its authors read them.
    trials : pandas.DataFrame
        Of the people: columns ``imagename``, ``category`` and ``condition``.
    style : {"words", "letters"}
    space : LabelSpace
    is_partly : bool
        Leave out texts about pictures that are in no trial, instead of refusing them.

    Returns
    -------
    ReadAnswers

    Raises
    ------
    TableRefused
        Naming the row, if a picture is in no trial, or the model answered about it twice.
    """
    import pandas as pd

    name = _DATE.sub("", path.stem)
    shown = trials.assign(name=trials["imagename"].map(picture_name)).drop_duplicates(["name", "condition"])
    known = {row["name"]: row for row in shown.to_dict("records")}
    if len(known) < len(shown):
        raise TableRefused(f"{path.name}: some pictures were shown in several conditions, and `image` names only one.")
    rows, kinds, seen, otherwise = [], Counter[str](), set(), []
    for number, (image, text, theirs) in enumerate(_texts(path), start=1):
        if is_partly and image not in known:
            continue
        if image not in known or image in seen:
            fault = "is in no trial" if image not in known else "was answered before"
            raise TableRefused(
                f"{path.name}, row {number}: the picture {image!r} {fault}. Correct it, or remove the row."
            )
        seen.add(image)
        read = read_answer(text, space.ids, style)
        kinds[read.kind] += 1
        if theirs is not None and (theirs if theirs in space.ids else NO_ANSWER) != read.label:
            otherwise.append(f"{image} {_shortened(text)}: {theirs or 'nothing'}, here {read.label}")
        of_people = known[image]
        rows.append(
            {
                "subj": name,
                "session": "1",
                "trial": str(number),
                "object_response": read.label,
                "category": of_people["category"],
                "condition": of_people["condition"],
                "imagename": of_people["imagename"],
                "rt_ms": None,
                "visual_change": of_people["visual_change"],
                # What is right for a picture holds for the model, too; the options of people's trials it did not see.
                **{name: of_people[name] for name in (ACCEPTED, COMPETING, ORIGINAL) if name in of_people},
            }
        )
    if not rows:
        raise TableRefused(f"{path.name} has no answers. Leave it out.")
    return ReadAnswers(name, pd.DataFrame(rows, dtype="string"), dict(kinds), tuple(otherwise))


def _shortened(text: str) -> str:
    """A text for a list of differences."""
    return repr(text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…")


def _texts(path: Path) -> list[tuple[str, str, str | None]]:
    """Picture, text, and the label that the authors read, where the file says so."""
    table = read_table(path)
    missing = sorted({"image", "response"} - set(table.columns))
    if missing:
        raise TableRefused(f"{path.name}: column {missing[0]!r} is missing. Add it.")
    theirs: list[str | None] = [None] * len(table)
    if "pred_label" in table.columns:
        theirs = [str(label).strip().lower() for label in table["pred_label"]]
    return list(zip(table["image"].str.strip().tolist(), table["response"].tolist(), theirs, strict=True))
