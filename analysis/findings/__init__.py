"""Every number of the dashboard, from tables of trials and predictions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.findings.analysing import FINDINGS_VERSION, analyse, fit_study

__all__ = ["FINDINGS_VERSION", "analyse", "fit_study"]


def __getattr__(name: str) -> object:
    """Import the analysis once it is asked for: who reads stored findings needs the model alone."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("analysis.findings.analysing"), name)
