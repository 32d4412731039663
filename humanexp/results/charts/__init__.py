"""Findings as charts: which charts a study has, and each of them as a figure with tables, definition and caveats."""

from __future__ import annotations

from humanexp.results.charts.chart import Chart, Choice
from humanexp.results.charts.curves import figure_of, name_of, sheet_names, sheet_of
from humanexp.results.charts.observer_styles import (
    PEOPLE,
    FigureName,
    conditions_of,
    figure_names,
    is_over_conditions,
    observers_of,
)
from humanexp.results.charts.registry import FAMILIES, chart_of, choices_of, family_of

__all__ = [
    "FAMILIES",
    "PEOPLE",
    "Chart",
    "Choice",
    "FigureName",
    "chart_of",
    "choices_of",
    "conditions_of",
    "family_of",
    "figure_names",
    "figure_of",
    "is_over_conditions",
    "name_of",
    "observers_of",
    "sheet_names",
    "sheet_of",
]
