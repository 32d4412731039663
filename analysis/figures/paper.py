"""Figures for the paper: SVG, PDF and PNG files, through matplotlib."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import InvalidInput
from analysis.figures.fitting import legend_columns, wrapped
from analysis.figures.style import (
    GRID,
    INK,
    INK_SOFT,
    SHADE,
    Observer,
    band_opacity,
    cell_colour,
    dot_radius,
    style_of,
    text_colour,
)
from analysis.figures.value import Band, Bars, Cells, Estimates, Figure, Line, Points, Trace

if TYPE_CHECKING:
    import matplotlib.figure

#: Formats of `to_file`.
FORMATS = ("svg", "pdf", "png")
#: Widths in inches: one column (89 mm) and both columns (183 mm) of a journal's page, and a report's text.
WIDTHS = {"column": 3.5, "page": 7.2, "text": 6.4}
#: Height of a row of names, and what stands above and below the rows, inches at 9 pt.
_ROW, _ROWS_ROUND = 0.24, 0.95
#: Held while a file is drawn: matplotlib's rc settings are global.
RENDERING = threading.Lock()


def to_file(figure: Figure, path: Path, *, width: str = "text") -> Path:
    """Write an .svg, .pdf or .png file (by its suffix); the same figure gives the same bytes.

    Letters are embedded in a .pdf as TrueType and drawn as outlines in an .svg: both look alike on every machine.

    Parameters
    ----------
    figure : Figure
    path : Path
    width : {"text", "column", "page"}
        See `WIDTHS`.

    Raises
    ------
    InvalidInput
        If the suffix or the width is another one.
    """
    words = {"Title": figure.title, "Description": figure.description}
    if path.suffix.lower() == ".pdf":
        del words["Description"]
    settings = {"svg.fonttype": "path", "font.family": "DejaVu Sans"}
    return write_drawing(path, partial(_unnamed, figure, width), salt="figure", dpi=300, words=words, settings=settings)


def write_drawing(
    path: Path,
    draw: Callable[[], matplotlib.figure.Figure],
    *,
    salt: str,
    dpi: int = 200,
    words: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> Path:
    """Write what ``draw`` draws as an .svg, .pdf or .png file (by its suffix); the same drawing gives the same bytes.

    Parameters
    ----------
    path : Path
    draw : callable
        Called once the suffix is known to be one of these; its refusals are let through.
    salt : str
        Of the ids in an .svg.
    dpi : int
        Of a .png.
    words : mapping of str to str, optional
        What the file says of itself.
    settings : mapping of str to str, optional
        Of matplotlib, beside those that make files alike.

    Raises
    ------
    InvalidInput
        If the suffix is another one.
    """
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise InvalidInput(f"A figure is written as .svg, .pdf or .png, not as {path.suffix or path.name!r}.")
    import matplotlib as mpl

    undated: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    alike: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": salt, "pdf.fonttype": 42, **(settings or {})}
    with RENDERING, mpl.rc_context(alike):
        draw().savefig(path, format=kind, dpi=dpi, metadata={**undated, **(words or {})})
    return path


def _unnamed(figure: Figure, width: str) -> matplotlib.figure.Figure:
    """The figure as it is written: kinds of series are no names, as ids of the drawing they would meet."""
    canvas = draw(figure, width=width)
    for artist in canvas.findobj():
        artist.set_gid(None)
    return canvas


def draw(figure: Figure, *, width: str = "text") -> matplotlib.figure.Figure:
    """The figure as matplotlib draws it; every series carries its observer's name as label and its kind as gid."""
    from matplotlib.figure import Figure as Canvas

    if width not in WIDTHS:
        raise InvalidInput(f"A figure is as wide as one of {', '.join(WIDTHS)}, not {width!r}.")
    across = WIDTHS[width]
    if figure.has_names:
        canvas = Canvas(figsize=(across, _ROWS_ROUND + _ROW * len(figure.y.categories)), layout="constrained")
        _draw_rows(figure, canvas.subplots(), small=across < 5)
        return canvas
    strip = figure.has_strip
    # One column is narrow: there a figure is nearly square, and its letters are those of a caption.
    height = 3.2 if across < 5 else 4.6
    canvas = Canvas(figsize=(across, height if strip else 0.87 * height), layout="constrained")
    if strip:
        upper, lower = canvas.subplots(2, 1, sharex=True, height_ratios=[5, 1])
    else:
        upper = lower = canvas.subplots()
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=INK_SOFT, labelsize=7 if across < 5 else 9)
        axes.xaxis.label.set_fontsize(8 if across < 5 else 10)
        axes.yaxis.label.set_fontsize(8 if across < 5 else 10)
    for shade in figure.shaded:
        upper.axvspan(shade.start, shade.end, color=SHADE, zorder=0, linewidth=0)
        at_end = shade.end >= figure.x.range[1]
        upper.annotate(
            shade.label,
            (shade.outer(figure.x), 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="right" if at_end else "left",
            fontsize=8,
            color=INK_SOFT,
        )
    for mark in figure.marks:
        upper.axhline(mark.y, color=INK_SOFT, linewidth=0.8, linestyle=(0, (2, 4)), zorder=1)
        upper.annotate(
            mark.label,
            (0.005, mark.y),
            xycoords=("axes fraction", "data"),
            xytext=(0, 2),
            textcoords="offset points",
            fontsize=8,
            color=INK_SOFT,
        )
    for trace in figure.traces:
        _draw(trace, lower if isinstance(trace, Bars) else upper, figure.largest_n)
    upper.set_ylim(*figure.y.range)
    upper.set_xlim(*figure.x.range)
    upper.set_ylabel(figure.y.label)
    upper.set_yticks(figure.y.ticks) if figure.y.ticks else None
    upper.grid(axis="y", color=GRID, linewidth=0.8, zorder=0)
    upper.set_axisbelow(True)
    lower.set_xlabel(figure.x.label)
    if figure.x.categories:
        lower.set_xticks(range(len(figure.x.categories)), figure.x.categories)
    elif figure.x.ticks:
        lower.set_xticks(figure.x.ticks)
    if strip:
        lower.set_ylabel(figure.strip_label, fontsize=7 if across < 5 else 9)
        lower.set_ylim(bottom=0)
    size = 9 if across < 5 else 11
    upper.set_title(wrapped(figure.title, size, across - 0.7), loc="left", fontsize=size, pad=14)
    handles = {observer.name: _legend_handle(observer) for observer in figure.observers}
    handles |= {meaning: _band_handle(figure, meaning) for meaning in figure.shown_bands}
    if len(handles) > 1:
        # Below the axes, so that no legend ever hides a curve.
        _legend(canvas, handles, 6.5 if across < 5 else 8, across, handlelength=3.2)
    return canvas


def _draw_rows(figure: Figure, axes: Any, *, small: bool) -> None:
    """Figures with names down the side: estimates with intervals, or a matrix."""
    size = 7 if small else 9
    for trace in figure.traces:
        match trace:
            case Estimates():
                _draw_estimates(trace, axes)
            case Cells():
                _draw_cells(trace, axes, size - 1.5)
    axes.set_xlim(*figure.x.range)
    axes.set_ylim(*figure.y.range)
    across = float(axes.figure.get_figwidth())
    names = [wrapped(name, size, 0.4 * across) for name in figure.y.categories]
    axes.set_yticks(range(len(names)), names)
    if figure.x.categories:
        places = figure.x.ticks or tuple(map(float, range(len(figure.x.categories))))
        turned = len(places) > 6
        axes.set_xticks(places, [figure.x.categories[int(place)] for place in places])
        axes.tick_params(axis="x", rotation=45 if turned else 0)
        for label in axes.get_xticklabels() if turned else ():
            label.set_ha("right")
            label.set_rotation_mode("anchor")
    else:
        axes.set_xticks(figure.x.ticks) if figure.x.ticks else None
        axes.grid(axis="x", color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.tick_params(colors=INK_SOFT, labelsize=size, length=0)
    axes.set_xlabel(figure.x.label, fontsize=size)
    axes.set_ylabel(figure.y.label, fontsize=size)
    # Names take their part of the width: the title begins at the edge of the drawing, not at that of the axes.
    title = wrapped(figure.title, size + 1.5, across - 0.1)
    axes.figure.suptitle(title, x=0.01, ha="left", fontsize=size + 1.5)
    meanings = {trace.meaning: _estimate_handle(trace) for trace in figure.traces if isinstance(trace, Estimates)}
    if len(meanings) > 1:
        _legend(axes.figure, meanings, size - 1, across, handlelength=2.0)


def _legend(canvas: Any, handles: Mapping[str, Any], size: float, across: float, *, handlelength: float) -> None:
    """Below the drawing, in as many columns as its width holds."""
    names = [wrapped(name, size, across - 0.8) for name in handles]
    canvas.legend(
        handles.values(),
        names,
        loc="outside lower left",
        ncols=legend_columns(names, size, across - 0.1),
        frameon=False,
        fontsize=size,
        handlelength=handlelength,
    )


def _draw_estimates(trace: Estimates, axes: Any) -> None:
    colours = [style_of(observer).colour for observer in trace.observers]
    if trace.bar:
        axes.barh(trace.rows, trace.x, height=0.55, color=colours, label=trace.meaning, gid="estimates", zorder=2)
    else:
        axes.scatter(
            trace.x, trace.rows, s=22, color="white", edgecolors=INK, label=trace.meaning, gid="estimates", zorder=4
        )
    for row, interval in zip(trace.rows, trace.intervals, strict=True):
        if interval is not None:
            axes.plot(interval, (row, row), color=INK, linewidth=1.1, gid="interval", zorder=3)


def _draw_cells(trace: Cells, axes: Any, size: float) -> None:
    from matplotlib.patches import Rectangle

    for row, values in enumerate(trace.values):
        for column, value in enumerate(values):
            colour = cell_colour(trace.scale, value, trace.range)
            cell = Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, facecolor=colour, linewidth=0, gid="cells")
            axes.add_patch(cell)
            if trace.texts[row][column]:
                ink = text_colour(trace.scale, value, trace.range)
                axes.text(column, row, trace.texts[row][column], ha="center", va="center", fontsize=size, color=ink)


def _estimate_handle(trace: Estimates) -> Any:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if trace.bar:
        return Patch(color=INK_SOFT)
    return Line2D([], [], linestyle="", marker="o", markerfacecolor="white", markeredgecolor=INK)


def _draw(trace: Trace, axes: Any, largest_n: int) -> None:
    if isinstance(trace, Estimates | Cells):
        return
    style = style_of(trace.observer)
    name = trace.observer.name
    # Strokes are given in px; matplotlib multiplies dash lengths by the line's width.
    width = 0.75 * style.width
    dashes = (0, tuple(length * 0.75 / width for length in style.dash)) if style.dash else "-"
    match trace:
        case Line():
            axes.plot(
                trace.x,
                trace.y,
                color=style.colour,
                linewidth=width,
                linestyle=dashes,
                label=name,
                gid="line",
                zorder=4,
            )
        case Band() if trace.shown:
            axes.fill_between(
                trace.x,
                trace.lower,
                trace.upper,
                color=style.colour,
                alpha=band_opacity(trace.observer),
                linewidth=0,
                label=name,
                gid="band",
                zorder=2,
            )
        case Points():
            if trace.joined:
                axes.plot(trace.x, trace.y, color=style.colour, linewidth=width, linestyle=dashes, gid="join", zorder=3)
            axes.scatter(
                trace.x,
                trace.y,
                s=[(2 * 0.75 * dot_radius(n, largest_n)) ** 2 for n in trace.n],
                color=style.colour,
                alpha=1.0 if trace.joined else 0.5,
                linewidths=0,
                label=name,
                gid="points",
                zorder=5,
            )
        case Bars():
            axes.bar(trace.x, trace.height, width=trace.width, color=style.colour, alpha=0.55, label=name, gid="bars")


def _legend_handle(observer: Observer) -> Any:
    from matplotlib.lines import Line2D

    style = style_of(observer)
    width = 0.75 * style.width
    dashes = (0, tuple(length * 0.75 / width for length in style.dash)) if style.dash else "-"
    return Line2D([], [], color=style.colour, linewidth=width, linestyle=dashes)


def _band_handle(figure: Figure, meaning: str) -> Any:
    """A patch as the band looks of whoever comes first."""
    from matplotlib.patches import Patch

    shown = {trace.observer for trace in figure.traces if isinstance(trace, Band) and trace.meaning == meaning}
    first = next(observer for observer in figure.observers if observer in shown)
    return Patch(color=style_of(first).colour, alpha=band_opacity(first), linewidth=0)
