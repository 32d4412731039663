"""The 16 entry-level categories of Geirhos et al. (2018), their superordinate groups, and the response grid.

The answer to the two questions of validation: is it one, and could it be used as one?

Both questions are answered on one screen, so that the answer to a trial is one of four: ``"yes-no"`` says that the
picture shows the wanted category, and that what it shows could not be used as one (ImageNet-D, supplement).

Pictures that have the shape of one category and the texture of another, told by their names.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

#: Sorted by name; also the label order of every 16-way classifier output.
CATEGORIES: tuple[str, ...] = (
    "airplane",
    "bear",
    "bicycle",
    "bird",
    "boat",
    "bottle",
    "car",
    "cat",
    "chair",
    "clock",
    "dog",
    "elephant",
    "keyboard",
    "knife",
    "oven",
    "truck",
)

#: The published 4 x 4 response screen, row by row.
RESPONSE_GRID: tuple[str, ...] = (
    "knife",
    "bicycle",
    "bear",
    "truck",
    "airplane",
    "clock",
    "boat",
    "car",
    "keyboard",
    "oven",
    "cat",
    "bird",
    "elephant",
    "chair",
    "bottle",
    "dog",
)

#: The response recorded when no answer came in time; wrong, and kept apart from a wrong choice.
NO_ANSWER = "na"

ANIMALS: frozenset[str] = frozenset({"bear", "bird", "cat", "dog", "elephant"})

Superordinate = Literal["animal", "artefact"]


def superordinate(category: str) -> Superordinate:
    """Group to which a category belongs; an answer from the other group is what a negative sentinel looks for."""
    return "animal" if category in ANIMALS else "artefact"


def _imagenet_classes() -> tuple[tuple[str, ...], dict[str, str]]:
    """WordNet ids in output order, and the category of those that have one; source in the file's head."""
    order: list[str] = []
    category_of: dict[str, str] = {}
    for line in (Path(__file__).parent / "imagenet_classes.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        wnid, *category = line.split()
        order.append(wnid)
        if category:
            category_of[wnid] = category[0]
    return tuple(order), category_of


#: `IMAGENET_WNIDS`: the 1,000 ImageNet classes in the order of a network's outputs (sorted WordNet ids).
#: `WNID_TO_CATEGORY`: the category of the 207 classes that have one (Geirhos et al. 2018).
IMAGENET_WNIDS, WNID_TO_CATEGORY = _imagenet_classes()


#: Every answer; the first word answers "does the picture show one?", the second "could it be used as one?".
JUDGEMENTS = ("yes-yes", "yes-no", "no-yes", "no-no")
#: What a plain example, and a picture that plainly lacks the wanted category, are answered with.
IS_ONE, IS_NONE = "yes-yes", "no-no"


def judgement(shows: bool, usable: bool) -> str:
    """The answer that joins the two."""
    return f"{'yes' if shows else 'no'}-{'yes' if usable else 'no'}"


#: ``bird3-bird2`` or ``car4-keyboard3`` at the end of a picture's name: shape and texture, each with its number.
_CONFLICT = re.compile(r"(?:^|[^a-z])([a-z]+)\d*-([a-z]+)\d*(?:\.\w+)?$")


def conflicts(originals: NDArray[np.str_]) -> tuple[NDArray[np.str_], NDArray[np.str_], NDArray[np.bool_]]:
    """Shape and texture of each picture by its name, and whether they are of two different categories."""
    names, code = np.unique(originals, return_inverse=True)
    pairs = [_parts(str(name)) for name in names]
    shapes = np.array([pair[0] for pair in pairs], dtype=np.str_)
    textures = np.array([pair[1] for pair in pairs], dtype=np.str_)
    known = (shapes != textures) if len(pairs) else np.zeros(0, dtype=np.bool_)
    return shapes[code], textures[code], np.asarray(known, dtype=np.bool_)[code]


def _parts(name: str) -> tuple[str, str]:
    """Shape and texture; two empty texts for any other picture."""
    match = _CONFLICT.search(name)
    if match and match[1] in CATEGORIES and match[2] in CATEGORIES:
        return match[1], match[2]
    return "", ""
