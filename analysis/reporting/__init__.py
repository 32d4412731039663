"""The study as a document: a frozen analysis plan, the methods in words with every number."""

from __future__ import annotations

from analysis.reporting.methods import SCRIPTED, Paragraph, methods_paragraphs
from analysis.reporting.plan import Deviation, FrozenPlan, deviations, freeze_plan

__all__ = [
    "SCRIPTED",
    "Deviation",
    "FrozenPlan",
    "Paragraph",
    "deviations",
    "freeze_plan",
    "methods_paragraphs",
]
