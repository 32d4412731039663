"""Figures for the page: the JSON that plotly.js draws."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from analysis.figures.value import (
    FAINT,
    GRID,
    INK,
    INK_SOFT,
    SCALES,
    SHADE,
    Axis,
    Band,
    Bars,
    Cells,
    Estimates,
    Figure,
    Line,
    Numbers,
    Points,
    Style,
    Trace,
    band_opacity,
    dot_radius,
    style_of,
    text_colour,
)

#: Height of a row of names, px, what each further line of a name adds, and what stands above and below the rows.
ROW_PX, LINE_PX, ROWS_ROUND_PX = 26, 14, 84
#: Letters in a line of a row's name: on a phone the rows need their half of the width, too.
NAME_LETTERS = 22


def to_plotly(figure: Figure) -> dict[str, Any]:
    """``{"data": [...], "layout": {...}}`` for plotly.js; numbers rounded to six digits.

    Every entry of ``data`` carries ``meta = {"kind", "observer", "band"}`` by which the page finds it.
    """
    strip = figure.has_strip
    layout: dict[str, Any] = {
        "xaxis": _plotly_axis(figure.x) | {"anchor": "y2" if strip else "y", "showgrid": False},
        "yaxis": _plotly_axis(figure.y) | {"domain": [0.24, 1] if strip else [0, 1]},
        "shapes": _shapes(figure),
        "annotations": _annotations(figure),
        "margin": {"l": 64, "r": 12, "t": 22, "b": 44},
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": INK_SOFT},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
    }
    if figure.has_names:
        lines = max(_name(name).count("<br>") for name in figure.y.categories)
        layout["height"] = ROWS_ROUND_PX + (ROW_PX + LINE_PX * lines) * len(figure.y.categories)
        layout["yaxis"] |= {"ticktext": [_name(name) for name in figure.y.categories], "automargin": True}
        layout["xaxis"]["tickangle"] = 0
        layout |= {"bargap": 0.35, "barmode": "group"}
        layout["margin"]["l"] = 8
    if any(isinstance(trace, Cells) for trace in figure.traces):
        named = len(figure.x.ticks) or len(figure.x.categories)
        layout["xaxis"] |= {"automargin": True, "tickangle": -45 if named > 6 else 0}
    if strip:
        layout["yaxis2"] = _strip_axis(figure)
    if figure.has_names and figure.kinds:
        layout["annotations"] += _legend(figure)
        layout["margin"]["t"] += LINE_PX * len(figure.kinds)
        layout["height"] += LINE_PX * len(figure.kinds)
    return {"data": [entry for trace in figure.traces for entry in _entries(trace, figure.largest_n)], "layout": layout}


def _legend(figure: Figure) -> list[dict[str, Any]]:
    """Above the rows, a line for each kind of networks: a square in its colour, and its name."""
    drawn = []
    for line, kind in enumerate(reversed(figure.kinds)):
        placed = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom"}
        shifted = placed | {"yshift": LINE_PX * line}
        square = _annotation("■", **shifted)
        drawn += [square | {"font": {"size": 13, "color": kind.colour}}, _annotation(kind.name, **shifted, xshift=14)]
    return drawn


def _shapes(figure: Figure) -> list[dict[str, Any]]:
    """Shaded stretches, and dotted lines at marks."""
    shaded = [
        {"type": "rect", "x0": shade.start, "x1": shade.end, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
        | {"fillcolor": SHADE, "line": {"width": 0}}
        for shade in figure.shaded
    ]
    return shaded + [
        {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": mark.y, "y1": mark.y, "layer": "below"}
        | {"line": {"color": INK_SOFT, "width": 1, "dash": "2px,4px"}}
        for mark in figure.marks
    ]


def _annotations(figure: Figure) -> list[dict[str, Any]]:
    """What stands at shaded stretches, at marks and in cells."""
    shaded = [
        _annotation(shade.label, x=shade.outer(figure.x), y=1, yref="paper", yanchor="bottom")
        | {"xanchor": "right" if shade.is_on_the_right(figure.x) else "left"}
        for shade in figure.shaded
        if shade.label
    ]
    marked = [
        _annotation(mark.label, x=0.005, xref="paper", y=mark.y, xanchor="left", yanchor="bottom")
        for mark in figure.marks
    ]
    printed = [text for trace in figure.traces if isinstance(trace, Cells) for text in _printed(trace)]
    return shaded + marked + printed


def _strip_axis(figure: Figure) -> dict[str, Any]:
    """The axis of the bars below the figure, which are counts."""
    most = max(max(trace.height, default=1.0) for trace in figure.traces if isinstance(trace, Bars))
    return {
        "domain": [0, 0.15],
        "range": [0, most * 1.05],
        "tickvals": [0, most],
        "title": {"text": figure.strip_label},
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }


def _rounded(values: Numbers) -> list[float]:
    return [round(value, 6) for value in values]


def _rgba(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _plotly_line(style: Style) -> dict[str, Any]:
    return {
        "color": style.colour,
        "width": style.width,
        "dash": ",".join(f"{length}px" for length in style.dash) or "solid",
    }


def _entries(trace: Trace, largest_n: int) -> list[dict[str, Any]]:
    match trace:
        case Estimates():
            return [_estimates(trace)]
        case Cells():
            return [_cells(trace)]
        case Line():
            return [_of_observer(trace, "line") | _line(trace)]
        case Band():
            return [_of_observer(trace, "band") | _band(trace)]
        case Points():
            return [_of_observer(trace, "points") | _points(trace, largest_n)]
        case Bars():
            return [_of_observer(trace, "bars") | _bars(trace)]


def _of_observer(trace: Line | Band | Points | Bars, kind: str) -> dict[str, Any]:
    """By what the page finds and names it."""
    name = trace.observer.name
    return {"name": name, "meta": {"observer": name, "band": "", "kind": kind}, "x": _rounded(trace.x)}


def _line(trace: Line) -> dict[str, Any]:
    said = "<br>%{customdata}" if trace.details else ""
    return {
        "type": "scatter",
        "mode": "lines",
        "y": _rounded(trace.y),
        "line": _plotly_line(style_of(trace.observer)),
        "hovertemplate": f"{_escaped(trace.observer.name)}<br>%{{x:.2f}}: %{{y:.3f}}{said}<extra></extra>",
        **({"customdata": list(trace.details)} if trace.details else {}),
    }


def _band(trace: Band) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "meta": {"observer": trace.observer.name, "band": trace.meaning, "kind": "band"},
        # One closed outline: up along the lower edge, back along the upper one.
        "x": _rounded(trace.x) + _rounded(trace.x[::-1]),
        "y": _rounded(trace.lower) + _rounded(trace.upper[::-1]),
        "fill": "toself",
        "fillcolor": _rgba(style_of(trace.observer).colour, band_opacity(trace.observer)),
        "line": {"width": 0},
        "hoverinfo": "skip",
        "visible": trace.shown,
    }


def _points(trace: Points, largest_n: int) -> dict[str, Any]:
    name, style = _escaped(trace.observer.name), style_of(trace.observer)
    return {
        # A rate of 0 or 1 is drawn whole.
        "cliponaxis": False,
        **_whiskers(trace),
        "type": "scatter",
        "mode": "lines+markers" if trace.joined else "markers",
        "y": _rounded(trace.y),
        "customdata": list(trace.n),
        "marker": {
            "color": style.colour if trace.joined else _rgba(style.colour, 0.5),
            "size": [2 * dot_radius(n, largest_n) for n in trace.n],
            "line": {"width": 0},
        },
        "line": _plotly_line(style),
        "hovertemplate": f"{name}<br>%{{x}}: %{{y:.3f}}, %{{customdata}} answers<extra></extra>",
    }


def _bars(trace: Bars) -> dict[str, Any]:
    return {
        "type": "bar",
        "y": _rounded(trace.height),
        "width": trace.width,
        "yaxis": "y2",
        "marker": {"color": FAINT},
        "hovertemplate": "Δv %{x:.3f}: %{y} answers<extra></extra>",
    }


def _whiskers(trace: Points) -> dict[str, Any]:
    """The intervals of dots, thin and grey."""
    if not trace.intervals:
        return {}
    ends = list(zip(trace.y, trace.intervals, strict=True))
    return {
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [round(max(upper - y, 0.0), 6) for y, (_, upper) in ends],
            "arrayminus": [round(max(y - lower, 0.0), 6) for y, (lower, _) in ends],
            "color": FAINT,
            "thickness": 1,
            "width": 0,
        }
    }


def _estimates(trace: Estimates) -> dict[str, Any]:
    """Bars from zero, or dots; the whiskers are the intervals."""
    styles = [style_of(observer) for observer in trace.observers]
    ends = [interval or (x, x) for interval, x in zip(trace.intervals, trace.x, strict=True)]
    drawn: dict[str, Any] = {
        "type": "bar" if trace.bar else "scatter",
        "name": trace.meaning,
        "meta": {"observer": "", "band": "", "kind": "estimates"},
        "orientation": "h",
        "x": _rounded(trace.x),
        "y": _rounded(trace.rows),
        "customdata": [
            f"{_escaped(observer.name)}<br>{_escaped(trace.meaning)} {x:.3f}"
            + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")
            for observer, x, interval in zip(trace.observers, trace.x, trace.intervals, strict=True)
        ],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [round(upper - x, 6) for (_, upper), x in zip(ends, trace.x, strict=True)],
            "arrayminus": [round(x - lower, 6) for (lower, _), x in zip(ends, trace.x, strict=True)],
            "color": INK,
            "thickness": 1.5,
            "width": 4,
        },
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    colours = [style.colour for style in styles]
    if trace.bar:
        return drawn | {"marker": {"color": colours, "line": {"width": 0}}, "width": 0.55}
    return drawn | {"mode": "markers", "marker": {"color": "#ffffff", "size": 8, "line": {"color": INK, "width": 1.5}}}


def _cells(trace: Cells) -> dict[str, Any]:
    colours = SCALES[trace.scale]
    return {
        "type": "heatmap",
        "name": trace.name,
        "meta": {"observer": "", "band": "", "kind": "cells"},
        "z": [list(row) for row in trace.values],
        "x": list(range(len(trace.values[0]))) if trace.values else [],
        "y": list(range(len(trace.values))),
        "customdata": [[_escaped(text) for text in row] for row in trace.details],
        "colorscale": [[place / (len(colours) - 1), colour] for place, colour in enumerate(colours)],
        "zmin": trace.range[0],
        "zmax": trace.range[1],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _printed(trace: Cells) -> list[dict[str, Any]]:
    """The texts of the cells, dark on light and light on dark."""
    return [
        {"text": _escaped(text), "x": column, "y": row, "showarrow": False, "font": {"size": 11, "color": colour}}
        for row, texts in enumerate(trace.texts)
        for column, text in enumerate(texts)
        if text and (colour := text_colour(trace.scale, trace.values[row][column], trace.range))
    ]


def _name(text: str) -> str:
    """The name of a row in short lines."""
    return "<br>".join(map(_escaped, wrap(text, NAME_LETTERS) or [""]))


def _escaped(text: str) -> str:
    """Names reach plotly's hover text as text, never as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("%{", "% {")


def _plotly_axis(axis: Axis) -> dict[str, Any]:
    drawn: dict[str, Any] = {
        "title": {"text": axis.label},
        "range": list(axis.range),
        "fixedrange": True,
        "zeroline": False,
        "gridcolor": GRID,
        "linecolor": GRID,
        "ticks": "",
    }
    if axis.categories and axis.range[0] > axis.range[1]:
        drawn |= {"showgrid": False}
    if axis.categories:
        places = [int(tick) for tick in axis.ticks] or list(range(len(axis.categories)))
        drawn |= {"tickvals": places, "ticktext": [_escaped(axis.categories[place]) for place in places]}
    elif axis.ticks:
        drawn["tickvals"] = list(axis.ticks)
    return drawn


def _annotation(text: str, **place: Any) -> dict[str, Any]:
    return {"text": text, "showarrow": False, "font": {"size": 11.5, "color": INK_SOFT}, **place}
