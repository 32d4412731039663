"""Pictures in rows, each with its words below it: functions on one picture, one function at several strengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InvalidInput
from analysis.figures.drawing import LABEL, TICK, WIDTHS, inches_of, wrapped
from analysis.figures.value import INK, INK_SOFT, SHADE

if TYPE_CHECKING:
    import matplotlib

#: Height of a line of words, and what lies between pictures, above a heading and at the edges, inches.
_LINE, _GAP, _ABOVE, _EDGE = 0.105, 0.06, 0.1, 0.04
#: Height of a heading, inches.
_HEADING = 0.17
#: Pictures side by side in one column and on a wider sheet.
_ACROSS = (5, 7)


@dataclass(frozen=True)
class Tile:
    """A picture, and what stands below it.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3), or None
        None leaves its place empty, in grey.
    words : tuple of str
        Lines; the first one is dark, the others are lighter. A line that is too long is folded.
    """

    picture: NDArray[np.uint8] | None
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class TileGroup:
    """Pictures under one heading; without a name there is none."""

    name: str
    tiles: tuple[Tile, ...]


def draw_tiles(groups: Sequence[TileGroup], *, width: str, across: int = 0) -> matplotlib.figure.Figure:
    """The groups from top to bottom, their pictures from left to right, all of one size.

    Parameters
    ----------
    groups : sequence of TileGroup
    width : {"text", "column", "page"}
    across : int
        Pictures side by side; by default as many as are readable, or as the largest group has.

    Raises
    ------
    InvalidInput
        If there is no picture, or the width is another one.
    """
    from matplotlib.figure import Figure as Canvas

    wide = inches_of(width)
    filled = [group for group in groups if group.tiles]
    if not filled:
        raise InvalidInput("A figure of pictures needs at least one picture.")
    most = across or min(max(len(group.tiles) for group in filled), _ACROSS[wide > WIDTHS["column"]])
    # So large that the fullest row fills the width; a single picture is not blown up.
    side = min((wide - 2 * _EDGE - (most - 1) * _GAP) / most, 1.8)
    rows: list[tuple[str, list[tuple[Tile, list[tuple[str, bool]]]]]] = []
    for group in filled:
        for start in range(0, len(group.tiles), most):
            named = "" if start else group.name
            rows.append((named, [(tile, _lines(tile, side)) for tile in group.tiles[start : start + most]]))
    heights = [
        (_ABOVE + _HEADING if name else _GAP) + side + _LINE * max(len(lines) for _, lines in row) + _GAP
        for name, row in rows
    ]
    high = sum(heights) + _EDGE
    canvas = Canvas(figsize=(wide, high))
    top = high
    for (name, row), height in zip(rows, heights, strict=True):
        upper = top - (_ABOVE + _HEADING if name else _GAP)
        if name:
            canvas.text(_EDGE / wide, (upper + 0.05) / high, name, fontsize=LABEL, fontweight="bold", color=INK)
        for place, (tile, lines) in enumerate(row):
            left = _EDGE + place * (side + _GAP)
            axes = canvas.add_axes((left / wide, (upper - side) / high, side / wide, side / high))
            axes.set_axis_off()
            if tile.picture is None:
                axes.imshow(np.full((1, 1, 3), [int(SHADE[at : at + 2], 16) for at in (1, 3, 5)], dtype=np.uint8))
            else:
                axes.imshow(tile.picture)
            for number, (line, is_first) in enumerate(lines, start=1):
                canvas.text(
                    left / wide,
                    (upper - side - number * _LINE) / high,
                    line,
                    fontsize=TICK,
                    color=INK if is_first else INK_SOFT,
                )
        top -= height
    return canvas


def _lines(tile: Tile, side: float) -> list[tuple[str, bool]]:
    """Lines that fit below a picture, and whether each belongs to the first of its words."""
    return [
        (line, not place) for place, words in enumerate(tile.words) for line in wrapped(words, TICK, side).split("\n")
    ]
