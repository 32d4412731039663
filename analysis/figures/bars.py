"""Bars by network in columns: indices, or accuracies beside areas; below them the curves that they are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.errors import InvalidInput
from analysis.figures.drawing import LABEL, TICK, draw_legend, draw_on, inches_of, legend_handles, wrapped
from analysis.figures.value import GRID, INK, INK_SOFT, Figure, Numbers, Observer, style_of

if TYPE_CHECKING:
    import matplotlib.figure

#: Height of a row, and what stands above and below the rows, inches.
_ROW, _ROUND = 0.135, 0.55
#: Least height of curves below the bars, inches.
_CURVES = 2.3


@dataclass(frozen=True)
class BarColumn:
    """One number of every network.

    Parameters
    ----------
    title : str
    values : tuple of float or None, shape (n,)
        None draws no bar.
    intervals : tuple of (lower, upper) or None, shape (n,); or empty
    texts : tuple of str, shape (n,); or empty
        Printed at the end of the bars.
    largest : float
        End of the axis, which begins at 0.
    """

    title: str
    values: tuple[float | None, ...]
    intervals: tuple[tuple[float, float] | None, ...] = ()
    texts: tuple[str, ...] = ()
    largest: float = 1.0


def draw_bars(
    networks: Sequence[Observer], columns: Sequence[BarColumn], *, width: str, curves: Figure | None = None
) -> matplotlib.figure.Figure:
    """Networks from top to bottom, a column of bars for each number, the curves below.

    Parameters
    ----------
    networks : sequence of Observer
        Their colours are those of `style_of`: of their kinds where they have one, which the legend names.
    columns : sequence of BarColumn
    width : {"text", "column", "page"}
    curves : Figure, optional
        Has no names and no strip of counts.

    Raises
    ------
    InvalidInput
        If there is no network or column, a column has another number of values, or the width is another one.
    """
    from matplotlib.figure import Figure as Canvas
    from matplotlib.patches import Patch

    n = len(networks)
    if not networks or not columns or any(len(column.values) != n for column in columns):
        raise InvalidInput("Bars need networks, and in every column one number of each.")
    across = inches_of(width)
    upper = _ROUND + _ROW * n
    canvas = Canvas(figsize=(across, upper + (_CURVES if curves else 0.0)), layout="constrained")
    grid = canvas.add_gridspec(2 if curves else 1, len(columns), height_ratios=[upper, _CURVES] if curves else [1])
    first: Any = None
    for place, column in enumerate(columns):
        axes = canvas.add_subplot(grid[0, place], sharey=first) if first else canvas.add_subplot(grid[0, place])
        first = first or axes
        _draw_column(axes, networks, column, across / len(columns))
        if place:
            axes.tick_params(labelleft=False)
    first.set_yticks(range(n), [network.name for network in networks])
    first.set_ylim(n - 0.4, -0.6)
    handles: dict[str, Any] = {}
    if curves is not None:
        draw_on(curves, canvas.add_subplot(grid[1, :]))
        handles = legend_handles([curves])
    else:
        kinds = {network.kind for network in networks if network.kind is not None}
        handles = {kind.name: Patch(color=kind.colour) for kind in sorted(kinds, key=lambda kind: kind.order)}
    if handles:
        draw_legend(canvas, handles)
    return canvas


def places_of(values: Sequence[float | None]) -> tuple[int | None, ...]:
    """Place of each value, the largest first; equal ones share a place, and None has none.

    Parameters
    ----------
    values : sequence of float or None, shape (n,)

    Returns
    -------
    tuple of int or None, shape (n,)
        From 1.
    """
    known = [value for value in values if value is not None]
    return tuple(None if value is None else 1 + sum(other > value for other in known) for value in values)


def _draw_column(axes: Any, networks: Sequence[Observer], column: BarColumn, wide: float) -> None:
    rows: Numbers = tuple(map(float, range(len(networks))))
    colours = [style_of(network).colour for network in networks]
    widths = [value or 0.0 for value in column.values]
    axes.barh(rows, widths, height=0.66, color=colours, gid="bars", label=column.title, zorder=2)
    for row, interval in zip(rows, column.intervals, strict=False):
        if interval is not None:
            axes.plot(interval, (row, row), color=INK, linewidth=0.7, gid="interval", zorder=3)
    ends = [interval[1] if interval else 0.0 for interval in column.intervals] or [0.0] * len(rows)
    for row, value, end, text in zip(rows, widths, ends, column.texts, strict=False):
        axes.annotate(
            text,
            (max(value, end), row),
            xytext=(2, 0),
            textcoords="offset points",
            va="center",
            fontsize=TICK,
            color=INK_SOFT,
            annotation_clip=False,
        )
    # Room for the texts at the ends of the longest bars.
    axes.set_xlim(0.0, (1.3 if column.texts else 1.02) * column.largest)
    ticks = [0.0, 0.5 * column.largest, column.largest]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_title(wrapped(column.title, LABEL, 0.6 * wide), loc="left", fontsize=LABEL, color=INK, pad=3)
    axes.grid(axis="x", color=GRID, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.tick_params(colors=INK_SOFT, labelsize=TICK, length=0)
