"""Fine-tuning a classifier on generated stimuli, and what it brings: before and after, on other originals.

Source: VCR, experiment 3 (Shen et al., visually-continuous corruption robustness).
"""

from __future__ import annotations

from analysis.retraining.comparison import before_and_after
from analysis.retraining.energy import Energy
from analysis.retraining.originals import Split, check_disjoint, split_originals
from analysis.retraining.training import Examples, Recipe, Retrained, fine_tune

__all__ = [
    "Energy",
    "Examples",
    "Recipe",
    "Retrained",
    "Split",
    "before_and_after",
    "check_disjoint",
    "fine_tune",
    "split_originals",
]
