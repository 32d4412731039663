"""How observers look: one colour, one dash pattern, one width each, on the page and on paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Role = Literal["human", "classifier", "participant"]

INK, INK_SOFT, FAINT, GRID, SHADE = "#16202b", "#4a5865", "#9aa6b1", "#dde3e9", "#eef1f4"
#: Okabe and Ito (2008), without yellow and black: colours that colour-blind readers can tell apart.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
#: Lengths of strokes and gaps, px; the empty pattern is a solid line.
DASHES: tuple[tuple[int, ...], ...] = ((), (8, 3), (2, 3), (8, 3, 2, 3), (12, 4), (4, 2))
#: Those of classifiers: none is solid, so that in grey no classifier is taken for people.
CLASSIFIER_DASHES: tuple[tuple[int, ...], ...] = (*DASHES[1:], (12, 3, 2, 3, 2, 3))
#: Colour scales of cells, from the lowest value to the highest; equal steps between the colours.
SCALES: dict[str, tuple[str, ...]] = {
    # light to dark in one hue: also told apart in grey
    "amount": ("#f2f6fa", "#b5cfe8", "#5b95d0", "#2f6fb3", "#0b3f7a"),
    # undecided, equivalent, different: grey, blue, vermilion, as far apart for colour-blind readers as on a screen
    "verdict": ("#e3e8ed", "#8fc1e3", "#f0a884"),
}
#: Radius of the largest dot, px.
LARGEST_DOT = 6.0


@dataclass(frozen=True)
class Observer:
    """Whose answers a series shows."""

    name: str
    role: Role
    #: Place among the observers of its role, from 0; decides colour and dashes.
    index: int = 0


#: Of whom a result is that does not say it.
PEOPLE, SOME_CLASSIFIER = Observer("people", "human"), Observer("classifier", "classifier")
#: Of two observers together, or of two corruptions.
ESTIMATE = Observer("estimate", "human")


@dataclass(frozen=True)
class Style:
    """How an observer looks."""

    colour: str
    dash: tuple[int, ...]
    width: float


def style_of(observer: Observer) -> Style:
    """People are black and thickest, single participants thin and grey.

    Classifiers take palette and dashes in turn, so that 36 differ without labels.
    """
    if observer.role == "human":
        # Several groups of people in one figure differ by their dashes alone.
        return Style(INK, DASHES[observer.index % len(DASHES)], 3.5)
    if observer.role == "participant":
        return Style(FAINT, (), 1.0)
    lap, place = divmod(observer.index, len(PALETTE))
    return Style(PALETTE[place], CLASSIFIER_DASHES[(place + lap) % len(CLASSIFIER_DASHES)], 2.0)


def dot_radius(n: int, largest: int) -> float:
    """Radius of a dot in px: its area is proportional to n, and small ones stay visible."""
    return max(1.2, LARGEST_DOT * math.sqrt(n / largest))


def band_opacity(observer: Observer) -> float:
    return 0.16 if observer.role == "human" else 0.12


def text_colour(scale: str, value: float | None, ends: tuple[float, float]) -> str:
    """Ink for a text on a cell of this value: white where the cell is dark."""
    red, green, blue = (int(cell_colour(scale, value, ends)[start : start + 2], 16) for start in (1, 3, 5))
    # Luma of Rec. 601.
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def cell_colour(scale: str, value: float | None, ends: tuple[float, float]) -> str:
    """Colour of a cell, mixed from the two colours of the scale between which its value lies; white when empty."""
    if value is None:
        return "#ffffff"
    colours = SCALES[scale]
    place = min(max((value - ends[0]) / (ends[1] - ends[0] or 1.0), 0.0), 1.0) * (len(colours) - 1)
    low = min(int(place), len(colours) - 2)
    share = place - low
    mixed = [
        round(
            (1 - share) * int(colours[low][start : start + 2], 16)
            + share * int(colours[low + 1][start : start + 2], 16)
        )
        for start in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in mixed)
