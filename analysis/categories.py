"""The 16 entry-level categories of Geirhos et al. (2018), their superordinate groups, and the response grid."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

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
