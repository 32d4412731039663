"""Matrices side by side, and one whose first rows are people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analysis.errors import InvalidInput
from analysis.figures.drawing import TICK, WIDTHS, draw, draw_legend, draw_rows, inches_of, wrapped
from analysis.figures.value import INK, Cells, Figure, cell_colour

if TYPE_CHECKING:
    import matplotlib.figure

#: Height of a matrix as a share of its width: names stand below, too. Steps of the scale of colours.
_TALL, _STEPS = 1.0, 5


def draw_matrices(panels: Sequence[tuple[str, Figure]], *, width: str) -> matplotlib.figure.Figure:
    """Matrices of shares side by side; in one column below each other.

    Parameters
    ----------
    panels : sequence of (str, Figure)
        What stands above a matrix, and the matrix.
    width : {"text", "column", "page"}

    Raises
    ------
    InvalidInput
        If there is no panel, one is no matrix, or the width is another one.
    """
    from matplotlib.figure import Figure as Canvas

    across = inches_of(width)
    if not panels or any(not isinstance(trace, Cells) for _, figure in panels for trace in figure.traces):
        raise InvalidInput("Matrices stand side by side, and at least one is needed.")
    columns = 1 if across <= WIDTHS["column"] else min(2, len(panels))
    rows = -(-len(panels) // columns)
    high = _TALL * across / columns
    canvas = Canvas(figsize=(across, rows * high), layout="constrained")
    places = canvas.subplots(rows, columns, squeeze=False).ravel()
    for axes, (name, figure) in zip(places, panels, strict=False):
        draw_rows(figure, axes)
        axes.set_title(wrapped(name, TICK, 0.8 * across / columns), loc="left", fontsize=TICK, color=INK, pad=3)
    for axes in places[len(panels) :]:
        axes.set_axis_off()
    draw_legend(canvas, _steps_of_colour([trace for _, figure in panels for trace in figure.traces][0]))
    return canvas


def _steps_of_colour(cells: Any) -> dict[str, Any]:
    """What the colours of shares say."""
    from matplotlib.patches import Patch

    low, high = cells.range
    shares = [low + place * (high - low) / _STEPS for place in range(_STEPS + 1)]
    return {f"{100 * share:g} %": Patch(color=cell_colour(cells.scale, share, cells.range)) for share in shares}


def draw_with_block(figure: Figure, size: int, *, width: str) -> matplotlib.figure.Figure:
    """A square matrix with a frame around its first ``size`` rows and columns.

    Parameters
    ----------
    figure : Figure
    size : int
        0 draws no frame.
    width : {"text", "column", "page"}
    """
    from matplotlib.patches import Rectangle

    canvas = draw(figure, width=width)
    if size:
        (axes,) = canvas.axes
        frame = Rectangle((-0.5, -0.5), size, size, fill=False, edgecolor=INK, linewidth=1.2, gid="block", zorder=5)
        axes.add_patch(frame)
    return canvas
