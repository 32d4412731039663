"""Several figures on one sheet: panels with letters, one legend below."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from analysis.errors import InvalidInput
from analysis.figures.drawing import LABEL, TICK, WIDTHS, draw_legend, draw_on, draw_strip, inches_of, legend_handles
from analysis.figures.fitting import wrapped
from analysis.figures.style import INK
from analysis.figures.value import Figure

if TYPE_CHECKING:
    import matplotlib.figure

#: Panels side by side in one column, and on a wider sheet.
_ACROSS = (2, 3)
#: Height of a panel, and of all of them: a page's text, inches.
_PANEL, _PAGE = 1.75, 8.9


def draw_sheet(panels: Sequence[tuple[str, Figure]], *, width: str = "page") -> matplotlib.figure.Figure:
    """Panels from left to right and from top to bottom, on the same axes wherever they show the same range.

    Parameters
    ----------
    panels : sequence of (str, Figure)
        What stands above a panel, and what is drawn in it.
    width : {"text", "column", "page"}

    Raises
    ------
    InvalidInput
        If there is no panel, a panel has names down its side, or the width is another one.
    """
    from matplotlib.figure import Figure as Canvas

    if not panels or any(figure.has_names for _, figure in panels):
        raise InvalidInput("A sheet needs at least one panel, and only figures without names of rows.")
    across = inches_of(width)
    columns = min(len(panels), _ACROSS[across > WIDTHS["column"]])
    rows = -(-len(panels) // columns)
    handles = legend_handles([figure for _, figure in panels])
    canvas = Canvas(figsize=(across, min(_PANEL * rows, _PAGE) + 0.3), layout="constrained")
    # One grid for panels and strips: so all panels are equally large, whatever stands around them.
    grid = canvas.add_gridspec(2 * rows, columns, height_ratios=[5, 1] * rows)
    for place, (name, figure) in enumerate(panels):
        row, column = divmod(place, columns)
        cells = (grid[2 * row, column], grid[2 * row + 1, column])
        axes = _draw_panel(canvas, cells, figure)
        _name_panel(axes[0], _letter(place), wrapped(name, TICK, 0.8 * across / columns))
        for one in axes if column else ():
            one.set_ylabel("")
        if place + columns < len(panels):
            axes[-1].set_xlabel("")
    if len(handles) > 1:
        draw_legend(canvas, handles)
    return canvas


def _draw_panel(canvas: Any, cells: tuple[Any, Any], figure: Figure) -> list[Any]:
    """The panel's axes, from top to bottom."""
    upper = canvas.add_subplot(cells[0])
    draw_on(figure, upper, shade_labels=False)
    if not figure.has_strip:
        return [upper]
    lower = canvas.add_subplot(cells[1], sharex=upper)
    draw_strip(figure, lower)
    upper.tick_params(labelbottom=False)
    return [upper, lower]


def _name_panel(axes: Any, letter: str, name: str) -> None:
    axes.set_title(name, loc="left", fontsize=TICK, color=INK, pad=3)
    axes.annotate(
        letter,
        (0.0, 1.0),
        xycoords="axes fraction",
        xytext=(-9, 3),
        textcoords="offset points",
        ha="center",
        fontsize=LABEL,
        fontweight="bold",
        color=INK,
    )


def _letter(place: int) -> str:
    """From a to z, then aa, ab and so on."""
    lap, rest = divmod(place, len(ascii_lowercase))
    return (_letter(lap - 1) if lap else "") + ascii_lowercase[rest]
