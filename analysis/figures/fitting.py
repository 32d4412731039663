"""Words that have to fit: titles, names of rows and legends on a drawing of a given width."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

#: What a legend's entry takes beside its words, in sizes of its letters: a stroke, its distance, the gap to the next.
_STROKE = 3.2 + 0.8 + 2.0
_POINTS = 72.0


def width_of(text: str, size: float) -> float:
    """Width of a line of text in inches.

    Parameters
    ----------
    text : str
    size : float
        Of the letters, points.
    """
    from matplotlib.textpath import TextPath

    return float(TextPath((0, 0), text, size=size).get_extents().width) / _POINTS if text.strip() else 0.0


def wrapped(text: str, size: float, width: float) -> str:
    """The text in lines that are no wider than ``width`` inches; a word that is too long is cut into parts."""
    from textwrap import wrap

    whole = width_of(text, size)
    if whole <= width:
        return text
    letters = max(8, int(len(text) * width / whole))
    lines = wrap(text, letters)
    while letters > 8 and max(width_of(line, size) for line in lines) > width:
        letters -= 1
        lines = wrap(text, letters)
    return "\n".join(lines)


def legend_columns(names: Sequence[str], size: float, width: float) -> int:
    """How many entries of a legend stand side by side on ``width`` inches; at least one.

    Parameters
    ----------
    names : sequence of str
        Entries, which fill one column after the other; the first columns hold one more where they do not come out even.
    size : float
        Of the letters, points.
    width : float
        Of the drawing, inches.
    """
    entries = [
        max(width_of(line, size) for line in name.splitlines() or [""]) + _STROKE * size / _POINTS for name in names
    ]
    for columns in range(len(names), 1, -1):
        rows, longer = divmod(len(names), columns)
        starts = [place * rows + min(place, longer) for place in range(columns + 1)]
        if sum(max(entries[start:end]) for start, end in pairwise(starts)) <= width:
            return columns
    return 1
