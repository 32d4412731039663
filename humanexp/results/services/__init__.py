"""Writes of results: imports and analysis runs."""

from __future__ import annotations

from humanexp.results.services.analysing import request_analysis, run_analysis
from humanexp.results.services.importing import import_trials

__all__ = ["import_trials", "request_analysis", "run_analysis"]
