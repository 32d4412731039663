"""Writes of results: imports, analysis runs, frozen plans, reports."""

from __future__ import annotations

from humanexp.results.services.analysing import request_analysis, run_analysis
from humanexp.results.services.importing import import_trials
from humanexp.results.services.pictures import attach_pictures
from humanexp.results.services.planning import freeze_analysis_plan, plan_as_it_stands, study_snapshot
from humanexp.results.services.reporting import choice_of, deviations_of, request_report, write_report

__all__ = [
    "attach_pictures",
    "choice_of",
    "deviations_of",
    "freeze_analysis_plan",
    "import_trials",
    "plan_as_it_stands",
    "request_analysis",
    "request_report",
    "run_analysis",
    "study_snapshot",
    "write_report",
]
