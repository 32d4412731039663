"""Figures for the paper: SVG, PDF and PNG files, through matplotlib."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import InvalidInput
from analysis.figures.style import GRID, INK_SOFT, SHADE, Observer, band_opacity, dot_radius, style_of
from analysis.figures.value import Band, Bars, Figure, Line, Points, Trace

if TYPE_CHECKING:
    import matplotlib.figure

#: Formats of `to_file`.
FORMATS = ("svg", "pdf", "png")
#: Held while a file is drawn: matplotlib's rc settings are global.
RENDERING = threading.Lock()


def to_file(figure: Figure, path: Path) -> Path:
    """Write an .svg, .pdf or .png file (by its suffix); the same figure gives the same bytes.

    Raises
    ------
    InvalidInput
        If the suffix is another one.
    """
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise InvalidInput(f"A figure is written as .svg, .pdf or .png, not as {path.suffix or path.name!r}.")
    import matplotlib as mpl

    undated: dict[str, None] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    settings = {"svg.fonttype": "none", "svg.hashsalt": "figure", "pdf.fonttype": 42}
    with RENDERING, mpl.rc_context(settings):
        draw(figure).savefig(path, format=kind, dpi=300, metadata=undated)
    return path


def draw(figure: Figure) -> matplotlib.figure.Figure:
    """The figure as matplotlib draws it; every series carries its observer's name as label and its kind as gid."""
    from matplotlib.figure import Figure as Canvas

    strip = figure.has_strip
    canvas = Canvas(figsize=(6.4, 4.6 if strip else 4.0), layout="constrained")
    if strip:
        upper, lower = canvas.subplots(2, 1, sharex=True, height_ratios=[5, 1])
    else:
        upper = lower = canvas.subplots()
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=INK_SOFT, labelsize=9)
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
        lower.set_ylabel(figure.strip_label, fontsize=9)
        lower.set_ylim(bottom=0)
    upper.set_title(figure.title, loc="left", fontsize=11, pad=14)
    handles = {observer: _legend_handle(observer) for observer in figure.observers}
    if len(handles) > 1:
        upper.legend(handles.values(), [observer.name for observer in handles], frameon=False, fontsize=8, loc="best")
    return canvas


def _draw(trace: Trace, axes: Any, largest_n: int) -> None:
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
