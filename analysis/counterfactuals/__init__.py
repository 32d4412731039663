"""Counterfactual pictures: made against a classifier, kept while an oracle sees the same object, and scored.

A new generator or oracle is one class in a file of its own and one line in `specifications`.
"""

from __future__ import annotations

from analysis.counterfactuals.input_controls import Control
from analysis.counterfactuals.score import OrientedRobustness, score
from analysis.counterfactuals.search import Counterfactual, search
from analysis.counterfactuals.specifications import load_generator, load_oracle

__all__ = ["Control", "Counterfactual", "OrientedRobustness", "load_generator", "load_oracle", "score", "search"]
