"""What a planned study could show, by simulation, before any money is spent."""

from __future__ import annotations

from analysis.power.crowd import Answers, Crowd, LogisticDrop, marginal_logit, simulate_answers
from analysis.power.models import ModelsReport, estimate_models
from analysis.power.recruiters import RecruitersReport, plan_recruiters
from analysis.power.sizes import LEVELS, Needed, PowerCurve, SizeReport, estimate_sizes, fit_power_curve, resized
from analysis.power.study import PlannedStudy, PowerReport, estimate_power

__all__ = [
    "LEVELS",
    "Answers",
    "Crowd",
    "LogisticDrop",
    "ModelsReport",
    "Needed",
    "PlannedStudy",
    "PowerCurve",
    "PowerReport",
    "RecruitersReport",
    "SizeReport",
    "estimate_models",
    "estimate_power",
    "estimate_sizes",
    "fit_power_curve",
    "marginal_logit",
    "plan_recruiters",
    "resized",
    "simulate_answers",
]
