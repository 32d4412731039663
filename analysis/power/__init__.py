"""What a planned study could show, by simulation, before any money is spent."""

from __future__ import annotations

from analysis.power.crowd import Answers, Crowd, LogisticDrop, marginal_logit, simulate_answers
from analysis.power.study import PlannedStudy, PowerReport, estimate_power

__all__ = [
    "Answers",
    "Crowd",
    "LogisticDrop",
    "PlannedStudy",
    "PowerReport",
    "estimate_power",
    "marginal_logit",
    "simulate_answers",
]
