"""Figures for the paper: SVG, PDF and PNG files, one by one or several on a sheet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from analysis.errors import InvalidInput
from analysis.figures.drawing import (
    LABEL,
    TICK,
    WIDTHS,
    draw,
    draw_legend,
    draw_on,
    draw_strip,
    inches_of,
    legend_handles,
    wrapped,
)
from analysis.figures.marks import mark_handles
from analysis.figures.value import INK, Figure

if TYPE_CHECKING:
    import matplotlib


#: Formats of `to_file`.
FORMATS = ("svg", "pdf", "png")
#: Sans-serif letters in order of preference; the last comes with matplotlib.
FONTS = ("Arial", "Helvetica", "Liberation Sans", "DejaVu Sans")
#: Held while a file is drawn: matplotlib's rc settings are global.
RENDERING = threading.Lock()


def to_file(figure: Figure, path: Path, *, width: str = "text", font: str = "") -> Path:
    """Write an .svg, .pdf or .png file (by its suffix); the same figure gives the same bytes.

    Letters are embedded in a .pdf as TrueType and drawn as outlines in an .svg: a file looks alike on every machine.

    Parameters
    ----------
    figure : Figure
    path : Path
    width : {"text", "column", "page"}
        See `analysis.figures.drawing.WIDTHS`.
    font : str
        Name of an installed family of letters; the first of `FONTS` that is installed where none is named.

    Raises
    ------
    InvalidInput
        If the suffix or the width is another one, or the machine has no such letters.
    """
    return canvas_to_file(
        lambda: draw(figure, width=width), path, title=figure.title, said=figure.description, font=font
    )


def sheet_to_file(
    panels: Sequence[tuple[str, Figure]], path: Path, *, title: str, width: str = "page", font: str = ""
) -> Path:
    """Write several figures on one sheet, each with a letter and its name, as `to_file` does one.

    Parameters
    ----------
    panels : sequence of (str, Figure)
        What stands above a panel, and what is drawn in it.
    path : Path
    title : str
        What the file says of itself.
    width, font : str
        As of `to_file`.

    Raises
    ------
    InvalidInput
        As of `to_file`; and if there is no panel, or a panel has names down its side.
    """
    said = " ".join(f"{name}: {figure.description}" for name, figure in panels)
    return canvas_to_file(lambda: draw_sheet(panels, width=width), path, title=title, said=said, font=font)


def canvas_to_file(
    make: Callable[[], matplotlib.figure.Figure], path: Path, *, title: str, said: str = "", font: str = ""
) -> Path:
    """Write what ``make`` draws as `to_file` writes a figure.

    Parameters
    ----------
    make : callable
    path : Path
    title, said : str
        What the file says of itself, and what is seen in it.
    font : str
        As of `to_file`.

    Raises
    ------
    InvalidInput
        As of `to_file`.
    """
    words = {"Title": title} if path.suffix.lower() == ".pdf" else {"Title": title, "Description": said}
    settings = {"svg.fonttype": "path", "font.family": _family(font), "hatch.linewidth": 0.4}
    return write_drawing(path, lambda: _unnamed(make()), salt="figure", dpi=300, words=words, settings=settings)


def installed_fonts() -> tuple[str, ...]:
    """Those of `FONTS` that this machine has, the preferred one first."""
    names = _installed()
    return tuple(name for name in FONTS if name in names)


def write_drawing(
    path: Path,
    draw: Callable[[], matplotlib.figure.Figure],
    *,
    salt: str,
    dpi: int = 200,
    words: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
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
    settings : mapping of str to objects, optional
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


def _family(font: str) -> list[str]:
    """The family asked for, and for letters that it lacks the one that has them all."""
    if font and font not in _installed():
        raise InvalidInput(f"This machine has no letters called {font!r}. It has {', '.join(installed_fonts())}.")
    return list(dict.fromkeys([font or installed_fonts()[0], FONTS[-1]]))


def _installed() -> set[str]:
    from matplotlib.font_manager import fontManager

    return set(fontManager.get_font_names())


def _unnamed(canvas: matplotlib.figure.Figure) -> matplotlib.figure.Figure:
    """The drawing as it is written: kinds of series are no names, as ids of the drawing they would meet."""
    for artist in canvas.findobj():
        artist.set_gid(None)
    return canvas


#: Panels side by side in one column, and on a wider sheet.
_ACROSS = (2, 3)
#: Height of a panel, and of all of them: a page's text, inches.
_PANEL, _PAGE = 1.75, 8.9


def draw_sheet(
    panels: Sequence[tuple[str, Figure]], *, width: str = "page", heading: str = ""
) -> matplotlib.figure.Figure:
    """Panels from left to right and from top to bottom, on the same axes wherever they show the same range.

    Parameters
    ----------
    panels : sequence of (str, Figure)
        What stands above a panel, and what is drawn in it.
    width : {"text", "column", "page"}
    heading : str
        Above all panels.

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
    figures = [figure for _, figure in panels]
    # The same words in small panels would stand on their curves.
    marks = mark_handles(figures)
    handles = legend_handles(figures) | marks
    canvas = Canvas(figsize=(across, min(_PANEL * rows, _PAGE) + 0.3), layout="constrained")
    # One grid for panels and strips: so all panels are equally large, whatever stands around them.
    strips = any(figure.has_strip for _, figure in panels)
    grid = canvas.add_gridspec(2 * rows if strips else rows, columns, height_ratios=([5, 1] if strips else [1]) * rows)
    for place, (name, figure) in enumerate(panels):
        row, column = divmod(place, columns)
        cells = (grid[2 * row, column], grid[2 * row + 1, column]) if strips else (grid[row, column], None)
        axes = _draw_panel(canvas, cells, figure, mark_labels=not marks)
        _name_panel(axes[0], _letter(place), wrapped(name, TICK, 0.7 * across / columns))
        # One name of an axis for all panels to its right that have the same.
        for one in axes if column and figure.y.label == panels[place - 1][1].y.label else ():
            one.set_ylabel("")
        if place + columns < len(panels):
            axes[-1].set_xlabel("")
    if len(handles) > 1:
        draw_legend(canvas, handles)
    if heading:
        canvas.suptitle(wrapped(heading, TICK, 0.95 * across), fontsize=TICK, x=0.01, ha="left")
    return canvas


def _draw_panel(canvas: Any, cells: tuple[Any, Any | None], figure: Figure, *, mark_labels: bool) -> list[Any]:
    """The panel's axes, from top to bottom."""
    upper = canvas.add_subplot(cells[0])
    draw_on(figure, upper, shade_labels=False, mark_labels=mark_labels)
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
