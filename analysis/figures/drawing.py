"""Figures as matplotlib draws them: letters of 6 and 7 pt, no title inside, marks that also differ in grey."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from analysis.errors import InvalidInput
from analysis.figures.marks import WORD, draw_mark, width_of
from analysis.figures.value import (
    FAINT,
    GRID,
    INK,
    INK_SOFT,
    SHADE,
    Band,
    Bars,
    Cells,
    Estimates,
    Figure,
    Line,
    Observer,
    Points,
    Shaded,
    Style,
    Trace,
    band_opacity,
    cell_colour,
    dot_radius,
    marker_of,
    style_of,
    text_colour,
)

if TYPE_CHECKING:
    import matplotlib


#: What a legend's entry takes beside its words, in sizes of its letters: a stroke, its distance, the gap to the next.
_STROKE = 3.2 + 0.8 + 2.0
_POINTS = 72.0


def wrapped(text: str, size: float, width: float) -> str:
    """The text in lines that are no wider than ``width`` inches; a word that is too long is cut into parts."""
    from textwrap import wrap

    if "\n" in text:
        return "\n".join(wrapped(line, size, width) for line in text.split("\n"))
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


#: Widths in inches: one column (89 mm) and both columns (183 mm) of a journal's page, and a report's text.
WIDTHS = {"column": 3.5, "page": 7.2, "text": 6.4}
#: Sizes of letters, pt: names of axes; ticks, names of rows and legends.
LABEL, TICK = 7.0, 6.0
#: Heights of a figure in one column and of a wider one, inches; without a strip of counts they are lower.
_HEIGHTS = (2.8, 3.4)
_WITHOUT_STRIP = 0.85
#: Height of a row of names, and what stands above and below the rows, inches.
_ROW, _ROWS_ROUND = 0.21, 0.62
#: Cells are at most this wide, inches: a small matrix stays small.
_CELL = 0.62
#: Strokes and dots are given in px of a screen; on paper they are finer.
_POINTS_PER_PX = 0.4


def inches_of(width: str) -> float:
    """Width of a drawing in inches.

    Raises
    ------
    InvalidInput
        If it is none of `WIDTHS`.
    """
    if width not in WIDTHS:
        raise InvalidInput(f"A figure is as wide as one of {', '.join(WIDTHS)}, not {width!r}.")
    return WIDTHS[width]


def draw(figure: Figure, *, width: str = "text") -> matplotlib.figure.Figure:
    """The figure as matplotlib draws it; every series carries its observer's name as label and its kind as gid."""
    from matplotlib.figure import Figure as Canvas

    across = inches_of(width)
    if figure.has_names:
        canvas = Canvas(figsize=rows_size(figure, across), layout="constrained")
        draw_rows(figure, canvas.subplots())
        handles = {trace.meaning: _estimate_handle(trace) for trace in figure.traces if isinstance(trace, Estimates)}
        handles |= _kind_handles(figure)
        if len(handles) > 1:
            draw_legend(canvas, handles)
        return canvas
    height = _HEIGHTS[across > WIDTHS["column"]]
    canvas = Canvas(figsize=(across, height if figure.has_strip else _WITHOUT_STRIP * height), layout="constrained")
    if figure.has_strip:
        upper, lower = canvas.subplots(2, 1, sharex=True, height_ratios=[5, 1])
        draw_on(figure, upper)
        draw_strip(figure, lower)
    else:
        draw_on(figure, canvas.subplots())
    handles = legend_handles([figure])
    if len(handles) > 1:
        # Below the axes, so that no legend ever hides a curve.
        draw_legend(canvas, handles)
    return canvas


def draw_on(figure: Figure, axes: Any, *, shade_labels: bool = True, mark_labels: bool = True) -> None:
    """Everything but the strip of counts and the legend, on these axes."""
    _dress(axes)
    for shade in figure.shaded:
        _draw_shade(shade, figure, axes, with_label=shade_labels)
    for mark in figure.marks:
        draw_mark(mark if mark_labels else replace(mark, label=""), figure, axes)
    for trace in figure.traces:
        if not isinstance(trace, Bars):
            _draw(trace, axes, figure.largest_n)
    axes.set_ylim(*figure.y.range)
    axes.set_xlim(*figure.x.range)
    axes.set_ylabel(figure.y.label)
    if figure.y.ticks:
        axes.set_yticks(figure.y.ticks)
    if figure.x.categories:
        axes.set_xticks(range(len(figure.x.categories)), figure.x.categories)
        # Each has an equal share of what the axes take of the width.
        share = 0.85 * axes.figure.get_figwidth() / len(figure.x.categories)
        if max(width_of(name, TICK) for name in figure.x.categories) > share:
            _turn(axes)
    elif figure.x.ticks:
        axes.set_xticks(figure.x.ticks)
    axes.grid(axis="y", color=GRID, linewidth=0.4, zorder=0)
    axes.set_axisbelow(True)
    if not figure.has_strip:
        axes.set_xlabel(figure.x.label)


def draw_strip(figure: Figure, axes: Any) -> None:
    """The strip of counts, and the axis below it."""
    _dress(axes)
    for trace in figure.traces:
        if isinstance(trace, Bars):
            _draw(trace, axes, figure.largest_n)
    axes.set_xlabel(figure.x.label)
    axes.set_ylabel(figure.strip_label, fontsize=TICK)
    highest = max(max(trace.height, default=1.0) for trace in figure.traces if isinstance(trace, Bars))
    axes.set_ylim(0, highest)
    axes.set_yticks([0, highest], ["0", f"{highest:,.0f}"])


def draw_rows(figure: Figure, axes: Any) -> None:
    """Figures with names down the side: estimates with intervals, or a matrix."""
    for shade in figure.shaded:
        axes.axvspan(shade.start, shade.end, color=SHADE, zorder=0, linewidth=0)
    for trace in figure.traces:
        match trace:
            case Estimates():
                _draw_estimates(trace, axes)
            case Cells():
                _draw_cells(trace, axes)
    axes.set_xlim(*figure.x.range)
    axes.set_ylim(*figure.y.range)
    across = float(axes.figure.get_figwidth())
    names = [wrapped(name, TICK, 0.4 * across) for name in figure.y.categories]
    axes.set_yticks(range(len(names)), names)
    if figure.x.categories:
        places = figure.x.ticks or tuple(map(float, range(len(figure.x.categories))))
        named = [figure.x.categories[int(place)] for place in places]
        turned = len(places) > 6 or any(width_of(name, TICK) > 0.9 * _CELL for name in named)
        axes.set_xticks(places, named)
        if turned:
            _turn(axes)
    else:
        axes.set_xticks(figure.x.ticks) if figure.x.ticks else None
        axes.grid(axis="x", color=GRID, linewidth=0.4)
        axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.tick_params(colors=INK_SOFT, labelsize=TICK, length=0)
    axes.set_xlabel(figure.x.label, fontsize=LABEL)
    axes.set_ylabel(figure.y.label, fontsize=LABEL)


def _turn(axes: Any) -> None:
    """Names below the axes that are too wide for each other's side."""
    axes.tick_params(axis="x", rotation=45)
    for label in axes.get_xticklabels():
        label.set_ha("right")
        label.set_rotation_mode("anchor")


def legend_handles(figures: Iterable[Figure]) -> dict[str, Any]:
    """One entry an observer, a kind, and a band that is drawn, as they look in the first figure that has them."""
    observers: dict[str, Any] = {}
    kinds: dict[str, Any] = {}
    bands: dict[str, Any] = {}
    for figure in figures:
        kinds |= _kind_handles(figure)
        drawn = {
            trace.observer
            for trace in figure.traces
            if isinstance(trace, Line | Band) or (isinstance(trace, Points) and trace.joined)
        }
        handles = {one.name: _legend_handle(one, is_dot=one not in drawn) for one in figure.observers}
        observers = handles | observers
        bands = {meaning: _band_handle(figure, meaning) for meaning in figure.shown_bands} | bands
    return observers | kinds | bands


def draw_legend(canvas: Any, handles: Mapping[str, Any]) -> None:
    """Below the drawing, in as many columns as its width holds."""
    across = float(canvas.get_figwidth())
    names = [wrapped(name, TICK, across - 0.6) for name in handles]
    canvas.legend(
        handles.values(),
        names,
        loc="outside lower left",
        ncols=legend_columns(names, TICK, across - 0.1),
        frameon=False,
        fontsize=TICK,
        handlelength=3.2,
    )


def rows_size(figure: Figure, across: float) -> tuple[float, float]:
    """Width and height of a figure with names, inches; a matrix of few columns does not fill the width."""
    height = _ROWS_ROUND + _ROW * len(figure.y.categories)
    columns = len(figure.x.categories)
    if columns:
        names = max(width_of(name, TICK) for name in figure.y.categories)
        # What the names of the columns take below, turned, is unknown here: the longest of them is an upper bound.
        below = max(width_of(name, TICK) for name in figure.x.categories)
        across = min(across, min(names, 0.4 * across) + _CELL * columns + 0.5 + 0.3 * below)
        height += 0.5 * below
    return across, height


def _dress(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[:].set_linewidth(0.5)
    axes.spines[:].set_color(INK_SOFT)
    axes.tick_params(colors=INK_SOFT, labelsize=TICK, width=0.5, length=2)
    axes.xaxis.label.set_fontsize(LABEL)
    axes.yaxis.label.set_fontsize(LABEL)


def _draw_shade(shade: Shaded, figure: Figure, axes: Any, *, with_label: bool) -> None:
    axes.axvspan(shade.start, shade.end, color=SHADE, zorder=0, linewidth=0)
    if with_label and shade.label:
        axes.annotate(
            shade.label,
            (shade.outer(figure.x), 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            ha="right" if shade.is_on_the_right(figure.x) else "left",
            fontsize=WORD,
            color=INK_SOFT,
        )


def _draw_estimates(trace: Estimates, axes: Any) -> None:
    colours = [style_of(observer).colour for observer in trace.observers]
    if trace.bar:
        axes.barh(trace.rows, trace.x, height=0.55, color=colours, label=trace.meaning, gid="estimates", zorder=2)
    else:
        axes.scatter(
            trace.x,
            trace.rows,
            s=12,
            color="white",
            edgecolors=INK,
            linewidths=0.8,
            label=trace.meaning,
            gid="estimates",
            zorder=4,
            clip_on=False,
        )
    for row, interval in zip(trace.rows, trace.intervals, strict=True):
        if interval is not None:
            axes.plot(interval, (row, row), color=INK, linewidth=0.8, gid="interval", zorder=3, clip_on=False)


def _draw_cells(trace: Cells, axes: Any) -> None:
    from matplotlib.patches import Rectangle

    for row, values in enumerate(trace.values):
        for column, value in enumerate(values):
            colour = cell_colour(trace.scale, value, trace.range)
            cell = Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, facecolor=colour, linewidth=0, gid="cells")
            axes.add_patch(cell)
            if trace.texts[row][column]:
                ink = text_colour(trace.scale, value, trace.range)
                axes.text(column, row, trace.texts[row][column], ha="center", va="center", fontsize=WORD, color=ink)


def _draw(trace: Trace, axes: Any, largest_n: int) -> None:
    if isinstance(trace, Estimates | Cells):
        return
    style = style_of(trace.observer)
    name = trace.observer.name
    stroke = _stroke(style)
    match trace:
        case Line():
            axes.plot(trace.x, trace.y, label=name, gid="line", zorder=4, **stroke)
        case Band() if trace.shown:
            axes.fill_between(
                trace.x,
                trace.lower,
                trace.upper,
                label=name,
                gid="band",
                zorder=2,
                **_fill(trace, style),
            )
        case Points():
            if trace.joined:
                axes.plot(trace.x, trace.y, gid="join", zorder=3, **stroke)
            for x, interval in zip(trace.x, trace.intervals, strict=False):
                axes.plot((x, x), interval, color=INK_SOFT, linewidth=0.4, gid="interval", zorder=3, clip_on=False)
            axes.scatter(
                trace.x,
                trace.y,
                s=[(2 * _POINTS_PER_PX * dot_radius(n, largest_n)) ** 2 for n in trace.n],
                color=style.colour if trace.joined else "white",
                edgecolors=style.colour,
                linewidths=0.6,
                marker="o" if trace.joined else marker_of(trace.observer),
                label=name,
                gid="points",
                zorder=5,
                # A rate of 0 or 1 stands on the edge of what is drawn, and is drawn whole.
                clip_on=False,
            )
        case Bars():
            axes.bar(trace.x, trace.height, width=trace.width, color=FAINT, linewidth=0, label=name, gid="bars")


def _fill(trace: Band, style: Style) -> dict[str, Any]:
    """How a region is filled: hatched where it has to differ without colour."""
    shade = {"alpha": band_opacity(trace.observer), "linewidth": 0}
    if not trace.hatch:
        return {"color": style.colour, **shade}
    return {"facecolor": "none", "edgecolor": style.colour, "alpha": 0.6, "hatch": trace.hatch, "linewidth": 0}


def _stroke(style: Style) -> dict[str, Any]:
    """How a line is drawn; matplotlib multiplies the lengths of dashes by the line's width."""
    width = _POINTS_PER_PX * style.width
    dashes = (0, tuple(length * _POINTS_PER_PX / width for length in style.dash)) if style.dash else "-"
    return {"color": style.colour, "linewidth": width, "linestyle": dashes}


def _legend_handle(observer: Observer, *, is_dot: bool) -> Any:
    """A stroke, or of whoever has single dots alone one of these."""
    from matplotlib.lines import Line2D

    style = style_of(observer)
    if not is_dot:
        return Line2D([], [], **_stroke(style))
    look: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": style.colour, "markeredgewidth": 0.6}
    return Line2D([], [], linestyle="", marker=marker_of(observer), markersize=4.8, **look)


def _kind_handles(figure: Figure) -> dict[str, Any]:
    from matplotlib.patches import Patch

    return {kind.name: Patch(color=kind.colour) for kind in figure.kinds}


def _band_handle(figure: Figure, meaning: str) -> Any:
    """A patch as the band looks of whoever comes first."""
    from matplotlib.patches import Patch

    bands = {one.observer: one for one in figure.traces if isinstance(one, Band) and one.meaning == meaning}
    first = next(observer for observer in figure.observers if observer in bands)
    return Patch(**_fill(bands[first], style_of(first)))


def _estimate_handle(trace: Estimates) -> Any:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if trace.bar:
        return Patch(color=INK_SOFT)
    return Line2D([], [], linestyle="", marker="o", markersize=4, markerfacecolor="white", markeredgecolor=INK)
