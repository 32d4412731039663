"""Writes of results: imports, analysis runs, frozen plans, reports."""
