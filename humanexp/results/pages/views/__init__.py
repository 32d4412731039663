"""Pages, downloads and actions of the results rooms."""

from __future__ import annotations

from humanexp.results.pages.views.actions import analyse, freeze, write_report
from humanexp.results.pages.views.files import (
    figure_file,
    figure_json,
    findings_file,
    report_file,
    responses_csv,
    sheet_file,
    table_file,
)
from humanexp.results.pages.views.pages import card, dashboard, methods, panel, room, table

__all__ = [
    "analyse",
    "card",
    "dashboard",
    "figure_file",
    "figure_json",
    "findings_file",
    "freeze",
    "methods",
    "panel",
    "report_file",
    "responses_csv",
    "room",
    "sheet_file",
    "table",
    "table_file",
    "write_report",
]
