"""What a planned study could show: answers of simulated people, and the power of its verdicts."""

from __future__ import annotations

from analysis.power.crowd import Answers, Crowd, LogisticDrop, marginal_logit, simulate_answers

__all__ = ["Answers", "Crowd", "LogisticDrop", "marginal_logit", "simulate_answers"]
