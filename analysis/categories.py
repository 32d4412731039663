"""The 16 entry-level categories of Geirhos et al. (2018), their superordinate groups, and the response grid."""

from __future__ import annotations

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
