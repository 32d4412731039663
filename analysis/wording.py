"""Numbers and names as they stand in a sentence, and results at a prompt.

`CurveFit`, `Indices`, `CurveSimilarity` and `ErrorConsistency` have `summary()`, `to_frame()` and `plot()`; what these
share stands here. Nothing is computed: each number is an attribute of the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from analysis.figures.drawing import TICK, WIDTHS, draw_on, draw_rows, rows_size
from analysis.figures.table import number_text
from analysis.figures.value import Figure

if TYPE_CHECKING:
    import matplotlib
    import pandas as pd


def with_interval(value: float, interval: Sequence[float] | None) -> str:
    ends = "" if interval is None else f" [{number_text(interval[0], 3)}, {number_text(interval[1], 3)}]"
    return number_text(value, 3) + ends


def range_of(values: Sequence[float], *, percent: bool = False) -> str:
    low, high = (f"{100 * one:.0f} %" if percent else f"{one:.2f}" for one in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def counted(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def listed(parts: Iterable[str]) -> str:
    return ", ".join(words(part) for part in parts)


def words(name: str) -> str:
    return name.replace("_", " ")


def quoted(name: str) -> str:
    """A name as it stands in a sentence: of several words in quotation marks."""
    return f"\u201c{name}\u201d" if " " in name else name


def joined(parts: Sequence[str]) -> str:
    """Join parts as in "a, b and c"."""
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part) if parts else ""


#: Letters in a line of a screen.
_WIDTH = 88
#: Axes that `plot` makes: one column of a journal, inches, and dots per inch at which its letters are read.
_SIZE, _DPI = (3.5, 2.7), 200


def screen(title: str, lines: Sequence[tuple[str, str]]) -> str:
    """A title, and below it names with what is said of them, aligned; empty ones are left out.

    Parameters
    ----------
    title : str
    lines : sequence of (name, text)

    Returns
    -------
    str
        Lines of at most 88 letters, unless a name or a word is longer.
    """
    told = [(name, text) for name, text in lines if text]
    margin = max((len(name) for name, _ in told), default=0) + 2
    texts = [title]
    for name, text in told:
        first, *more = wrap(text, max(_WIDTH - margin, 20)) or [""]
        texts += [f"{name:<{margin}}{first}", *(" " * margin + line for line in more)]
    return "\n".join(texts)


def one_row(values: Mapping[str, Any]) -> pd.DataFrame:
    """A table of one row, so that those of several results stand below each other with `pandas.concat`.

    Parameters
    ----------
    values : mapping of str to objects
        By name of column. A pair of numbers ``name`` becomes ``name_lower`` and ``name_upper``; of
        ``name_interval``, the same; of ``interval`` alone, ``lower`` and ``upper``; both are NaN where an interval is
        None.
    """
    import pandas as pd

    row: dict[str, Any] = {}
    for name, value in values.items():
        stem = name.removesuffix("interval").removesuffix("_")
        is_pair = isinstance(value, tuple) and len(value) == 2 and not isinstance(value[0], tuple)
        if is_pair or (value is None and name.endswith("interval")):
            lower, upper = value or (None, None)
            for end, one in (("lower", lower), ("upper", upper)):
                row[f"{stem}_{end}" if stem else end] = float("nan") if one is None else one
        else:
            row[name] = value
    return pd.DataFrame([row])


def plot_figure(figure: Figure, axes: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
    """Draw a figure on axes, as `analysis.figures` does for the page and the paper.

    Parameters
    ----------
    figure : Figure
    axes : matplotlib Axes, optional
        Of one column's width where none are given. On axes that hold curves already, chance level and shades are not
        drawn again.

    Returns
    -------
    matplotlib Axes
    """
    if axes is None:
        from matplotlib import pyplot

        size = rows_size(figure, WIDTHS["column"]) if figure.has_names else _SIZE
        _, axes = pyplot.subplots(figsize=size, dpi=_DPI, layout="constrained")
    if figure.has_names:
        draw_rows(figure, axes)
        return axes
    if any(line.get_gid() == "line" for line in axes.lines):
        figure = replace(figure, shaded=(), marks=())
    draw_on(figure.without_strip(), axes)
    curves = [line for line in axes.lines if line.get_gid() == "line"]
    if len(curves) > 1:
        axes.legend(handles=curves, frameon=False, fontsize=TICK, handlelength=3.2)
    return axes
