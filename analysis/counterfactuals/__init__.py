"""Counterfactual pictures: oracle-oriented robustness."""

from __future__ import annotations

from analysis.counterfactuals.score import OrientedRobustness, score

__all__ = ["OrientedRobustness", "score"]
