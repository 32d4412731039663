"""A figure described once: plotly JSON for the page, an SVG, PDF or PNG file for the paper.

A `Figure` says what is drawn (series, axes, marks) and by whom (people or a classifier); `style_of` says how an
observer looks. Both renderers, `page` and `paper`, read the same value, so that screen and paper cannot disagree.
"""

from __future__ import annotations

from analysis.figures.difficulty import PlottedDifficulty, difficulty_figure
from analysis.figures.performance import CurveBand, PlottedCurve, condition_figure, curve_figure
from analysis.figures.rows import IndexRow, Names, Pair, index_figure, matrix_figure, similarity_figure
from analysis.figures.style import DASHES, LARGEST_DOT, PALETTE, Observer, Style, style_of
from analysis.figures.table import Column, Table
from analysis.figures.times import TimeBin, times_figure
from analysis.figures.value import Axis, Band, Bars, Cells, Estimates, Figure, Line, Mark, Points, Shaded

__all__ = [
    "DASHES",
    "LARGEST_DOT",
    "PALETTE",
    "Axis",
    "Band",
    "Bars",
    "Cells",
    "Column",
    "CurveBand",
    "Estimates",
    "Figure",
    "IndexRow",
    "Line",
    "Mark",
    "Names",
    "Observer",
    "Pair",
    "PlottedCurve",
    "PlottedDifficulty",
    "Points",
    "Shaded",
    "Style",
    "Table",
    "TimeBin",
    "condition_figure",
    "curve_figure",
    "difficulty_figure",
    "index_figure",
    "matrix_figure",
    "similarity_figure",
    "style_of",
    "times_figure",
]
