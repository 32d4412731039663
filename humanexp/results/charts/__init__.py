"""Findings as charts: which charts a study has, and each of them as a figure with tables, definition and caveats."""
