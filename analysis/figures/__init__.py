"""A figure described once: plotly JSON for the page, an SVG, PDF or PNG file for the paper.

A `Figure` says what is drawn (series, axes, marks) and by whom (people or a classifier); `style_of` says how an
observer looks. Both renderers, `page` and `paper`, read the same value, so that screen and paper cannot disagree.
"""

from __future__ import annotations

from analysis.figures.performance import PlottedCurve, condition_figure, curve_figure
from analysis.figures.style import DASHES, LARGEST_DOT, PALETTE, Observer, Style, style_of
from analysis.figures.value import Axis, Band, Bars, Figure, Line, Mark, Points, Shaded

__all__ = [
    "DASHES",
    "LARGEST_DOT",
    "PALETTE",
    "Axis",
    "Band",
    "Bars",
    "Figure",
    "Line",
    "Mark",
    "Observer",
    "PlottedCurve",
    "Points",
    "Shaded",
    "Style",
    "condition_figure",
    "curve_figure",
    "style_of",
]
