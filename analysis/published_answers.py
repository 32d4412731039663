"""Texts that published models answered about the pictures of published trials, as trials of one more observer."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.categories import CATEGORIES
from analysis.errors import TableRefused
from analysis.observers import read_answer
from analysis.observers.questions import Style
from analysis.published_trials import picture_name
from analysis.tables import read_table

if TYPE_CHECKING:
    import pandas as pd

#: The authors put day and time in front of a model's name.
_DATE = re.compile(r"^\d{8}_\d{6}_")


def read_answers(path: Path, trials: pd.DataFrame, style: Style) -> tuple[str, pd.DataFrame, dict[str, int]]:
    """Read the texts of one model.

    Parameters
    ----------
    path : Path
        CSV (UTF-8) with the columns ``image`` and ``response``.
    trials : pandas.DataFrame
        Of the people: columns ``imagename``, ``category`` and ``condition``.
    style : {"words", "letters"}

    Returns
    -------
    str
        The model's name.
    pandas.DataFrame
        A trial for each text, columns as those of trial files.
    dict of str to int
        Number of labels, misses, refusals and unreadable texts.

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
    rows, kinds, seen = [], Counter[str](), set()
    for number, (image, text) in enumerate(_texts(path), start=1):
        if image not in known or image in seen:
            fault = "is in no trial" if image not in known else "was answered before"
            raise TableRefused(
                f"{path.name}, row {number}: the picture {image!r} {fault}. Correct it, or remove the row."
            )
        seen.add(image)
        read = read_answer(text, CATEGORIES, style)
        kinds[read.kind] += 1
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
            }
        )
    if not rows:
        raise TableRefused(f"{path.name} has no answers. Leave it out.")
    return name, pd.DataFrame(rows, dtype="string"), dict(kinds)


def _texts(path: Path) -> list[tuple[str, str]]:
    table = read_table(path)
    missing = sorted({"image", "response"} - set(table.columns))
    if missing:
        raise TableRefused(f"{path.name}: column {missing[0]!r} is missing. Add it.")
    return list(zip(table["image"].str.strip().tolist(), table["response"].tolist(), strict=True))
