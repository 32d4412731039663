"""Lines at a level, with their words where these hide as little as possible of what is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.figures.value import INK_SOFT, Band, Figure, Line, Mark, Points

#: Size of the letters of words inside a drawing, pt; points of an inch.
WORD, _POINTS = 6.0, 72.0
#: Between words and their line, pt; from the left and right edge, as a share of the width.
_ABOVE, _EDGE = 1.5, 0.005
#: Places along the line that are tried, and points of a curve that are looked at.
_PLACES, _SAMPLES = 21, 400
#: Of the lines.
_STROKE: dict[str, Any] = {"color": INK_SOFT, "linewidth": 0.5, "linestyle": (0, (2, 4))}


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


def draw_mark(mark: Mark, figure: Figure, axes: Any) -> None:
    """The line on these axes, its words on its left wherever nothing is drawn there."""
    axes.axhline(mark.y, zorder=1, **_STROKE)
    if not mark.label:
        return
    left, is_above = _place(mark, figure, axes)
    axes.annotate(
        mark.label,
        (left, mark.y),
        xycoords=("axes fraction", "data"),
        xytext=(0, _ABOVE if is_above else -_ABOVE),
        textcoords="offset points",
        va="baseline" if is_above else "top",
        fontsize=WORD,
        color=INK_SOFT,
    )


def mark_handles(figures: Iterable[Figure]) -> dict[str, Any]:
    """An entry of a legend for the words of the lines, where all that have words have the same; else none."""
    from matplotlib.lines import Line2D

    words = {mark.label for figure in figures for mark in figure.marks if mark.label}
    return {word: Line2D([], [], **_STROKE) for word in words} if len(words) == 1 else {}


def _place(mark: Mark, figure: Figure, axes: Any) -> tuple[float, bool]:
    """Left end of the words as a share of the width, and whether they are above the line."""
    box, canvas = axes.get_position(), axes.figure
    wide = width_of(mark.label, WORD) / max(box.width * canvas.get_figwidth(), 1e-9)
    high = (WORD + 2 * _ABOVE) / _POINTS / max(box.height * canvas.get_figheight(), 1e-9)
    drawn = _drawn(figure)
    level = float(_shares(np.array([mark.y]), figure.y.range)[0])
    tried: list[tuple[int, int, float, bool]] = []
    for is_above in (True, False):
        low = level if is_above else level - high
        if low < 0.0 or low + high > 1.0:
            continue
        for left in np.linspace(_EDGE, max(1.0 - wide - _EDGE, _EDGE), _PLACES):
            x, y = drawn
            inside = (x >= left - 0.01) & (x <= left + wide + 0.01) & (y >= low) & (y <= low + high)
            tried.append((int(inside.sum()), len(tried), float(left), is_above))
    _, _, left, is_above = min(tried, default=(0, 0, _EDGE, True))
    return left, is_above


def _drawn(figure: Figure) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points of all curves, dots and their intervals, as shares of the axes."""
    found: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for trace in figure.traces:
        if isinstance(trace, Line):
            found.append(_followed(trace.x, trace.y))
        elif isinstance(trace, Band) and trace.shown and trace.hatch:
            found += [_followed(trace.x, trace.lower), _followed(trace.x, trace.upper)]
        elif isinstance(trace, Points):
            found.append((np.array(trace.x), np.array(trace.y)))
            found += [
                (np.full(_SAMPLES // 10, place), np.linspace(*ends, _SAMPLES // 10))
                for place, ends in zip(trace.x, trace.intervals, strict=False)
            ]
    x = np.concatenate([np.zeros(0), *(one[0] for one in found)])
    y = np.concatenate([np.zeros(0), *(one[1] for one in found)])
    return _shares(x, figure.x.range), _shares(y, figure.y.range)


def _followed(x: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A curve in steps that are alike, whatever its own are."""
    place = np.linspace(0, len(x) - 1, _SAMPLES) if len(x) else np.zeros(0)
    return np.interp(place, np.arange(len(x)), x), np.interp(place, np.arange(len(y)), y)


def _shares(values: NDArray[np.float64], ends: tuple[float, float]) -> NDArray[np.float64]:
    return (values - ends[0]) / (ends[1] - ends[0])
