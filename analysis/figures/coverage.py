"""The coverage of a stimulus set as a file, and that of two sets side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InvalidInput
from analysis.figures.drawing import LABEL, TICK, WIDTHS, draw_legend, inches_of
from analysis.figures.paper import write_drawing
from analysis.figures.value import GRID, INK, INK_SOFT, PALETTE, SHADE
from analysis.visual_change.coverage import FunctionComparison, FunctionSide, SetComparison

_COVERED, _THIN = ("#5b95d0", "#2f6fb3", "#0b3f7a"), "#c27c00"
#: Half the width of a picture, as a share of the range.
_HALF_WIDTH = 0.045
#: Counts from which a covered bin is drawn darker, in multiples of the minimum.
_DARKER = (2.5, 10.0)


@dataclass(frozen=True)
class CoverageRow:
    """Stimuli of one function in bins of equal width over [0, 1].

    Parameters
    ----------
    label : str
    counts : sequence of int, shape (n_bins,)
    reach : float or None
        Visual change that the median picture reaches; empty bins beyond it are not held against the function.
    share : float or None
        Share of the paper's bins that are covered, told to the right of the row.
    published : float or None
        The same share as published.
    """

    label: str
    counts: Sequence[int]
    reach: float | None = None
    share: float | None = None
    published: float | None = None


@dataclass(frozen=True)
class Example:
    """A picture at its visual change."""

    visual_change: float
    picture: NDArray[np.uint8]


def write_coverage(
    path: Path, rows: Sequence[CoverageRow], *, title: str, minimum: int, examples: Sequence[Example] = ()
) -> Path:
    """Write an .svg, .pdf or .png file (by its suffix); the same arguments give the same bytes.

    Parameters
    ----------
    path : Path
    rows : sequence of CoverageRow
        From top to bottom.
    title : str
    minimum : int
        Stimuli that make a bin covered.
    examples : sequence of Example
        Stand below the bins in their tenth of the range, so at most one of each tenth is seen.

    Raises
    ------
    InvalidInput
        If the suffix is another one, or there is no row.
    """
    return write_drawing(path, partial(_draw, rows, title, minimum, examples), salt="coverage")


def _draw(rows: Sequence[CoverageRow], title: str, minimum: int, examples: Sequence[Example]) -> Any:
    if not rows:
        raise InvalidInput("There is no function whose coverage could be drawn.")
    from matplotlib.figure import Figure as Canvas
    from matplotlib.patches import Patch

    heights = [0.3 * len(rows), 0.64] if examples else [0.3 * len(rows)]
    canvas = Canvas(figsize=(8.0, sum(heights) + 1.35), layout="constrained")
    axes = canvas.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
    for place, row in enumerate(rows):
        _draw_row(axes[0], len(rows) - 1 - place, row, minimum)
    axes[0].set_yticks(range(len(rows)), [row.label for row in reversed(rows)], fontsize=8, color=INK)
    _tell_shares(axes[0], rows)
    axes[0].set_ylim(-0.5, len(rows) - 0.5)
    axes[0].set_xlim(0, 1)
    axes[0].set_title(title, loc="left", fontsize=10, color=INK)
    if examples:
        _draw_examples(axes[1], examples)
    for one in axes:
        one.spines[:].set_visible(False)
        one.tick_params(length=0, labelsize=8, colors=INK_SOFT)
    axes[-1].set_xlabel("visual change", fontsize=8, color=INK_SOFT)
    axes[-1].set_xticks(np.linspace(0, 1, 11))
    bounds = [minimum, *(round(minimum * factor) for factor in _DARKER)]
    texts = [f"{bounds[0]} to {bounds[1] - 1}", f"{bounds[1]} to {bounds[2] - 1}", f"{bounds[2]} and more"]
    handles = [Patch(color=colour, label=text) for colour, text in zip(_COVERED, texts, strict=True)]
    handles.append(Patch(color=_THIN, label=f"1 to {minimum - 1}"))
    handles.append(Patch(facecolor="white", edgecolor=INK_SOFT, label="none"))
    handles.append(Patch(facecolor=SHADE, edgecolor=GRID, hatch="////", label="beyond the median picture's reach"))
    canvas.legend(handles=handles, loc="outside lower left", ncols=6, frameon=False, fontsize=7)
    if examples:
        _make_square(canvas, axes[1])
    return canvas


def _tell_shares(axes: Any, rows: Sequence[CoverageRow]) -> None:
    """Two columns right of the bins: the covered share, and the published one."""
    if all(row.share is None for row in rows):
        return
    style = {"fontsize": 7.5, "color": INK_SOFT, "ha": "right", "va": "center", "clip_on": False}
    for x, head in ((1.075, "covered"), (1.17, "published")):
        axes.text(x, len(rows) - 0.3, head, **style)
    for place, row in enumerate(rows):
        for x, share in ((1.075, row.share), (1.17, row.published)):
            axes.text(x, len(rows) - 1 - place, "–" if share is None else f"{share:.3f}", **style)


def _draw_row(axes: Any, height: int, row: CoverageRow, minimum: int) -> None:
    from matplotlib.patches import Rectangle

    width = 1 / len(row.counts)
    for place, count in enumerate(row.counts):
        is_out = count < minimum and row.reach is not None and (place + 0.5) * width > row.reach
        if count >= minimum:
            face = _COVERED[sum(count >= minimum * factor for factor in _DARKER)]
        else:
            face = SHADE if is_out else _THIN if count else "white"
        edge = INK_SOFT if not count and not is_out else GRID if is_out else face
        axes.add_patch(
            Rectangle(
                (place * width + 0.06 * width, height - 0.38),
                0.88 * width,
                0.76,
                facecolor=face,
                edgecolor=edge,
                linewidth=0.4,
                hatch="//////" if is_out else None,
            )
        )


def _draw_examples(axes: Any, examples: Sequence[Example]) -> None:
    """Pictures stand in the middle of their tenth of the range, and nearly as wide."""
    for example in examples:
        x = (min(int(10 * example.visual_change), 9) + 0.5) / 10
        extent = (x - _HALF_WIDTH, x + _HALF_WIDTH, 0, 1)
        axes.imshow(example.picture, extent=extent, aspect="auto", interpolation="lanczos")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_yticks([])


def _make_square(canvas: Any, axes: Any) -> None:
    """Once the layout is known, pictures are made as high as they are wide."""
    canvas.draw_without_rendering()
    canvas.set_layout_engine("none")
    box = axes.get_window_extent()
    height = min(1.0, 2 * _HALF_WIDTH * box.width / box.height)
    for image in axes.images:
        left, right, _, _ = image.get_extent()
        image.set_extent((left, right, 1 - height, 1.0))
    axes.set_xlim(0, 1)
    axes.set_ylim(1 - height, 1)
    place = axes.get_position()
    axes.set_position((place.x0, place.y1 - height * place.height, place.width, height * place.height))


#: Colours of the first and the second set.
COLOURS = (PALETTE[0], PALETTE[1])
_COLUMNS = 3
#: Bins with too few stimuli are drawn this faint.
_FAINT = 0.3


def draw_comparison(
    comparison: SetComparison, *, names: tuple[str, str], labels: Mapping[str, str] | None = None, width: str = "page"
) -> Any:
    """Where two sets have their stimuli, a panel a function.

    Bars are shares of a set's stimuli in bins of visual change, faint where a bin holds too few to count as covered.
    Below the bars every level has its median, its middle half (thick) and its middle nine tenths (thin).

    Parameters
    ----------
    comparison : SetComparison
    names : tuple of str
        Of the two sets.
    labels : mapping of str to str
        Names of functions for people.
    width : {"text", "column", "page"}

    Raises
    ------
    InvalidInput
        If the sets share no function, or the width is another one.

    Notes
    -----
    VCR (Shen et al.), Figures 4 and 11.
    """
    if not comparison.functions:
        raise InvalidInput(f"The sets {names[0]} and {names[1]} share no function: there is nothing to draw.")
    from matplotlib.figure import Figure as Canvas
    from matplotlib.patches import Patch

    across = inches_of(width)
    columns = min(_COLUMNS if across > WIDTHS["column"] else 1, len(comparison.functions))
    rows = -(-len(comparison.functions) // columns)
    canvas = Canvas(figsize=(across, 1.75 * rows + 0.4), layout="constrained")
    places = canvas.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for axes, function in zip(places, comparison.functions, strict=False):
        _draw_function(axes, function, (labels or {}).get(function.name, function.name))
    for axes in places[len(comparison.functions) :]:
        axes.set_axis_off()
    for axes in places[max(0, len(comparison.functions) - columns) : len(comparison.functions)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("visual change Δv", fontsize=LABEL, color=INK_SOFT)
    draw_legend(canvas, {name: Patch(color=colour) for colour, name in zip(COLOURS, names, strict=True)})
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
    axes.tick_params(length=0, labelsize=TICK, colors=INK_SOFT)
    axes.spines[:].set_visible(False)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(
        f"{label}: {function.a.covered} and {function.b.covered} of 40 bins", loc="left", fontsize=TICK, color=INK
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
