"""Figures for the page: the JSON that plotly.js draws."""

from __future__ import annotations

from typing import Any

from analysis.figures.style import GRID, INK_SOFT, SHADE, Style, band_opacity, dot_radius, style_of
from analysis.figures.value import Axis, Band, Bars, Figure, Line, Numbers, Points, Trace


def to_plotly(figure: Figure) -> dict[str, Any]:
    """``{"data": [...], "layout": {...}}`` for plotly.js; numbers rounded to six digits.

    Every entry of ``data`` carries ``meta = {"kind", "observer", "band"}`` by which the page finds it.
    """
    strip = figure.has_strip
    entries: list[dict[str, Any]] = []
    for trace in figure.traces:
        entries += _plotly_entries(trace, figure.largest_n)
    y_axis = _plotly_axis(figure.y) | {"domain": [0.24, 1] if strip else [0, 1]}
    layout: dict[str, Any] = {
        "xaxis": _plotly_axis(figure.x) | {"anchor": "y2" if strip else "y", "showgrid": False},
        "yaxis": y_axis,
        "shapes": [
            *[
                _shape("rect", x0=shade.start, x1=shade.end, y0=0, y1=1, yref="paper", layer="below")
                | {"fillcolor": SHADE, "line": {"width": 0}}
                for shade in figure.shaded
            ],
            *[
                _shape("line", x0=0, x1=1, xref="paper", y0=mark.y, y1=mark.y, layer="below")
                | {"line": {"color": INK_SOFT, "width": 1, "dash": "2px,4px"}}
                for mark in figure.marks
            ],
        ],
        "annotations": [
            *[
                _annotation(shade.label, x=shade.outer(figure.x), y=1, yref="paper", yanchor="bottom")
                | {"xanchor": "right" if shade.end >= figure.x.range[1] else "left"}
                for shade in figure.shaded
            ],
            *[
                _annotation(mark.label, x=0.005, xref="paper", y=mark.y, xanchor="left", yanchor="bottom")
                for mark in figure.marks
            ],
        ],
        "margin": {"l": 52, "r": 12, "t": 22, "b": 44},
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": INK_SOFT},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
    }
    if strip:
        most = max(max(trace.height, default=1.0) for trace in figure.traces if isinstance(trace, Bars))
        layout["yaxis2"] = {
            "domain": [0, 0.15],
            "range": [0, most * 1.05],
            "tickvals": [0, most],
            "title": {"text": figure.strip_label},
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
        }
    return {"data": entries, "layout": layout}


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


def _plotly_entries(trace: Trace, largest_n: int) -> list[dict[str, Any]]:
    style = style_of(trace.observer)
    name = trace.observer.name
    meta = {"observer": name, "band": ""}
    match trace:
        case Line():
            return [
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": name,
                    "meta": meta | {"kind": "line"},
                    "x": _rounded(trace.x),
                    "y": _rounded(trace.y),
                    "line": _plotly_line(style),
                    "hovertemplate": f"{_escaped(name)}<br>Δv %{{x:.3f}}: %{{y:.3f}}<extra></extra>",
                }
            ]
        case Band():
            return [
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": name,
                    "meta": meta | {"kind": "band", "band": trace.meaning},
                    # One closed outline: up along the lower edge, back along the upper one.
                    "x": _rounded(trace.x) + _rounded(trace.x[::-1]),
                    "y": _rounded(trace.lower) + _rounded(trace.upper[::-1]),
                    "fill": "toself",
                    "fillcolor": _rgba(style.colour, band_opacity(trace.observer)),
                    "line": {"width": 0},
                    "hoverinfo": "skip",
                    "visible": trace.shown,
                }
            ]
        case Points():
            return [
                {
                    "type": "scatter",
                    "mode": "lines+markers" if trace.joined else "markers",
                    "name": name,
                    "meta": meta | {"kind": "points"},
                    "x": _rounded(trace.x),
                    "y": _rounded(trace.y),
                    "customdata": list(trace.n),
                    "marker": {
                        "color": style.colour if trace.joined else _rgba(style.colour, 0.5),
                        "size": [2 * dot_radius(n, largest_n) for n in trace.n],
                        "line": {"width": 0},
                    },
                    "line": _plotly_line(style),
                    "hovertemplate": f"{_escaped(name)}<br>%{{x}}: %{{y:.3f}}, %{{customdata}} answers<extra></extra>",
                }
            ]
        case Bars():
            return [
                {
                    "type": "bar",
                    "name": name,
                    "meta": meta | {"kind": "bars"},
                    "x": _rounded(trace.x),
                    "y": _rounded(trace.height),
                    "width": trace.width,
                    "yaxis": "y2",
                    "marker": {"color": _rgba(style.colour, 0.55)},
                    "hovertemplate": "Δv %{x:.3f}: %{y} answers<extra></extra>",
                }
            ]


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
    if axis.categories:
        drawn |= {"tickvals": list(range(len(axis.categories))), "ticktext": list(axis.categories)}
    elif axis.ticks:
        drawn["tickvals"] = list(axis.ticks)
    return drawn


def _shape(kind: str, **place: Any) -> dict[str, Any]:
    return {"type": kind, **place}


def _annotation(text: str, **place: Any) -> dict[str, Any]:
    return {"text": text, "showarrow": False, "font": {"size": 11.5, "color": INK_SOFT}, **place}
