"""Two stimulus sets side by side as a file: for each shared function one set's histogram above, the other's below."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from analysis.errors import InvalidInput
from analysis.figures.paper import write_drawing
from analysis.figures.style import GRID, INK, INK_SOFT, PALETTE
from analysis.visual_change.comparison import FunctionComparison, FunctionSide, SetComparison

#: Colours of the first and the second set.
COLOURS = (PALETTE[0], PALETTE[1])
_COLUMNS = 3
#: Bins with too few stimuli are drawn this faint.
_FAINT = 0.3


def write_comparison(
    path: Path, comparison: SetComparison, *, names: tuple[str, str], labels: Mapping[str, str] | None = None
) -> Path:
    """Write an .svg, .pdf or .png file (by its suffix); the same arguments give the same bytes.

    Bars are shares of a set's stimuli in bins of visual change, faint where a bin holds too few to count as covered.
    Below the bars every level has its median, its middle half (thick) and its middle nine tenths (thin).

    Parameters
    ----------
    path : Path
    comparison : SetComparison
    names : tuple of str
        Of the two sets.
    labels : mapping of str to str
        Names of functions for people.

    Raises
    ------
    InvalidInput
        If the suffix is another one, or the sets share no function.
    """
    return write_drawing(path, partial(_draw, comparison, names, labels or {}), salt="comparison")


def _draw(comparison: SetComparison, names: tuple[str, str], labels: Mapping[str, str]) -> Any:
    if not comparison.functions:
        raise InvalidInput(f"The sets {names[0]} and {names[1]} share no function: there is nothing to draw.")
    from matplotlib.figure import Figure as Canvas
    from matplotlib.patches import Patch

    columns = min(_COLUMNS, len(comparison.functions))
    rows = -(-len(comparison.functions) // columns)
    canvas = Canvas(figsize=(2.7 * columns, 2.1 * rows + 0.5), layout="constrained")
    places = canvas.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for axes, function in zip(places, comparison.functions, strict=False):
        _draw_function(axes, function, labels.get(function.name, function.name))
    for axes in places[len(comparison.functions) :]:
        axes.set_axis_off()
    for axes in places[max(0, len(comparison.functions) - columns) : len(comparison.functions)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("visual change", fontsize=8, color=INK_SOFT)
    handles = [Patch(color=colour, label=name) for colour, name in zip(COLOURS, names, strict=True)]
    canvas.legend(handles=handles, loc="outside upper left", ncols=2, frameon=False, fontsize=9)
    return canvas


def _draw_function(axes: Any, function: FunctionComparison, label: str) -> None:
    highest = max(*function.a.shares, *function.b.shares, 1e-9)
    lowest = 0.0
    for side, colour, sign in ((function.a, COLOURS[0], 1), (function.b, COLOURS[1], -1)):
        width = 1 / len(side.shares)
        for place, (share, count) in enumerate(zip(side.shares, side.counts, strict=True)):
            alpha = 1.0 if count >= side.minimum else _FAINT
            x = (place + 0.5) * width
            axes.bar(x, sign * share, width=0.86 * width, color=colour, alpha=alpha, linewidth=0)
    for side, colour in ((function.a, COLOURS[0]), (function.b, COLOURS[1])):
        lowest = _draw_levels(axes, side, colour, lowest, highest)
    axes.axhline(0, color=INK_SOFT, linewidth=0.6)
    axes.set_ylim(-1.08 * highest + lowest, 1.08 * highest)
    axes.set_xlim(0, 1)
    ticks = [-highest, 0, highest]
    axes.set_yticks(ticks, [f"{abs(100 * tick):.0f} %" for tick in ticks])
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
    axes.tick_params(length=0, labelsize=7, colors=INK_SOFT)
    axes.spines[:].set_visible(False)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(
        f"{label}: {function.a.covered} and {function.b.covered} of 40 bins", loc="left", fontsize=8, color=INK
    )


def _draw_levels(axes: Any, side: FunctionSide, colour: str, lowest: float, highest: float) -> float:
    """Rows below the histograms, the weakest level on top; returns how far down they go."""
    step = 0.16 * highest
    for level in side.levels:
        lowest -= step
        y = -1.08 * highest + lowest + 0.5 * step
        axes.plot(level.nine_tenths, (y, y), color=colour, linewidth=0.8, solid_capstyle="butt")
        axes.plot(level.quartiles, (y, y), color=colour, linewidth=2.4, solid_capstyle="butt")
        axes.plot(level.median, y, "o", markersize=3, color=INK)
    return lowest
